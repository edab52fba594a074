#pragma once

#include <mpi.h>

#include <string_view>

#include "collectives/topology.hpp"

namespace timpani {

/// Which ranks of `comm` share a node, by `split_by_node`, and which share a group: those that pass the same text as
/// `group`. Collective over `comm`, an intracommunicator. Its error handler handles MPI's errors.
Topology discover_topology(MPI_Comm comm, std::string_view group);

}  // namespace timpani
