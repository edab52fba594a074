#pragma once

#include <mpi.h>

#include <chrono>

namespace timpani {

/// Returns when another rank of `comm` has called `wake` with this rank. It sleeps and checks every `interval`, since
/// waiting in MPI would keep a core busy.
void sleep_until_woken(MPI_Comm comm, std::chrono::microseconds interval);

void wake(MPI_Comm comm, int rank);

}  // namespace timpani
