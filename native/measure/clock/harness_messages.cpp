#include "measure/clock/harness_messages.hpp"

namespace timpani {

namespace {
constexpr int kBarrierTag = 2;
constexpr int kBroadcastTag = 3;
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

}  // namespace timpani
