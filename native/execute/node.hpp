#pragma once

#include <mpi.h>

#include <cstdint>

namespace timpani {

/// Splits `comm` by node, ranks ordered by `key`. Like MPI_COMM_TYPE_SHARED, but also on a simulated machine, whose
/// nodes only its description defines. Returns MPI's error code.
int split_by_node(MPI_Comm comm, int key, MPI_Comm* node);

/// In a simulation, advances time by what copying that many bytes takes a core of the node, from the platform file.
/// Does nothing on real machines, where copying itself takes its time.
void pass_time_of_copying(std::int64_t bytes);

}  // namespace timpani
