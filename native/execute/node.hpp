#pragma once

#include <mpi.h>

#include <cstdint>

namespace timpani {

/// The ranks of `comm` that share a node with the caller, by ascending `key`: MPI_COMM_TYPE_SHARED, but on a simulated
/// machine, whose nodes only its description knows. MPI's error code.
int split_by_node(MPI_Comm comm, int key, MPI_Comm* node);

/// In a simulation, passes the time in which a core of the node copies so many bytes, as its platform says; else
/// nothing: there the copying itself takes its time.
void pass_time_of_copying(std::int64_t bytes);

}  // namespace timpani
