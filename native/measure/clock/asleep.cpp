#include "measure/clock/asleep.hpp"

#include <thread>

#include "measure/clock/local_clock.hpp"

namespace timpani {

namespace {

constexpr int kWakeTag = 5;

}  // namespace

void sleep_until_woken(MPI_Comm comm, std::chrono::microseconds interval) {
    for (int woken = kSimulated ? 1 : 0; woken == 0;) {  // a simulated rank that waits uses no core
        MPI_Iprobe(MPI_ANY_SOURCE, kWakeTag, comm, &woken, MPI_STATUS_IGNORE);
        if (woken == 0) std::this_thread::sleep_for(interval);
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, kWakeTag, comm, MPI_STATUS_IGNORE);
}

void wake(MPI_Comm comm, int rank) { MPI_Send(nullptr, 0, MPI_BYTE, rank, kWakeTag, comm); }

}  // namespace timpani
