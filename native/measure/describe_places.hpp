#pragma once

#include <mpi.h>

#include <string>

namespace timpani {

/// A JSON array at rank 0 with `{"rank":…,"host":…,"cores":[…],"sockets":[…]}` of every rank of `comm`: where it runs,
/// which cores it may use, and their sockets. Collective.
std::string describe_places(MPI_Comm comm, int rank, int size);

}  // namespace timpani
