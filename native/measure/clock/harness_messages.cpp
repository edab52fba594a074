#include "measure/clock/harness_messages.hpp"

#include <thread>

#include "measure/clock/local_clock.hpp"

namespace timpani {

namespace {
constexpr int kBarrierTag = 2;
constexpr int kBroadcastTag = 3;
constexpr int kWakeTag = 5;
}  // namespace

void dissemination_barrier(MPI_Comm comm, int rank, int size) {
    for (int distance = 1; distance < size; distance *= 2) {
        MPI_Sendrecv(nullptr, 0, MPI_BYTE, (rank + distance) % size, kBarrierTag, nullptr, 0, MPI_BYTE,
                     (rank - distance + size) % size, kBarrierTag, comm, MPI_STATUS_IGNORE);
    }
}

std::int64_t broadcast_number(MPI_Comm comm, int rank, int size, std::int64_t value) {
    int lowest_bit = 1;
    while (lowest_bit < size && (rank & lowest_bit) == 0) lowest_bit *= 2;
    if (rank != 0) MPI_Recv(&value, 1, MPI_INT64_T, rank - lowest_bit, kBroadcastTag, comm, MPI_STATUS_IGNORE);
    for (int distance = lowest_bit / 2; distance > 0; distance /= 2) {
        if (rank + distance < size) MPI_Send(&value, 1, MPI_INT64_T, rank + distance, kBroadcastTag, comm);
    }
    return value;
}

void sleep_until_woken(MPI_Comm comm, std::chrono::microseconds interval) {
    for (int woken = kSimulated ? 1 : 0; woken == 0;) {  // a simulated rank that waits uses no core
        MPI_Iprobe(MPI_ANY_SOURCE, kWakeTag, comm, &woken, MPI_STATUS_IGNORE);
        if (woken == 0) std::this_thread::sleep_for(interval);
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, kWakeTag, comm, MPI_STATUS_IGNORE);
}

void wake(MPI_Comm comm, int rank) { MPI_Send(nullptr, 0, MPI_BYTE, rank, kWakeTag, comm); }

}  // namespace timpani
