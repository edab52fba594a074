#pragma once

#include <mpi.h>

#include <string>

namespace timpani {

/// A JSON array at rank 0 with `{"rank":…,"host":…,"cores":[…],"sockets":[…],"caches":[…]}` of every rank of `comm`:
/// where it runs, which cores it may use, and their sockets and last-level caches. Collective.
std::string describe_places(MPI_Comm comm, int rank, int size);

}  // namespace timpani
