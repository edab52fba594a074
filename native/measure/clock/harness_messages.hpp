#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>

namespace timpani {

// The harness's messages. Measured times then don't depend on the library's barrier or broadcast. The library's barrier
// algorithm is known to change what a benchmark of its broadcast prints.

/// Dissemination barrier (Hensgen, Finkel, Manber 1988): ⌈log₂ p⌉ rounds. In round k rank r notifies rank r + 2ᵏ.
void dissemination_barrier(MPI_Comm comm, int rank, int size);

/// Binomial broadcast of one number from rank 0.
std::int64_t broadcast_number(MPI_Comm comm, int rank, int size, std::int64_t value);

/// Returns when another rank of `comm` has called `wake` with this rank. It sleeps and checks every `interval`, since
/// waiting in MPI would keep a core busy.
void sleep_until_woken(MPI_Comm comm, std::chrono::microseconds interval);

void wake(MPI_Comm comm, int rank);

}  // namespace timpani
