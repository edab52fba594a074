#pragma once

#include <mpi.h>

#include <string>

namespace timpani {

/// Collective. At rank 0, a JSON array with `{"rank":…,"host":…,"cores":[…],"sockets":[…],"caches":[…]}` for every rank
/// of `comm`: where it runs, the cores that it may use, and their sockets and last-level caches.
std::string describe_places(MPI_Comm comm);

}  // namespace timpani
