#pragma once

#include <mpi.h>

#include <string_view>

#include "collectives/topology.hpp"

namespace timpani {

/// Which ranks of `comm` share a node, as `split_by_node` tells, and which a group: those that give
/// the same `group`, any text. Collective over `comm`, an intracommunicator; MPI's errors are those of its handler.
Topology discover_topology(MPI_Comm comm, std::string_view group);

}  // namespace timpani
