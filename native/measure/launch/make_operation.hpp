#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "collectives/topology.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// How collectives are called. The topology says where the communicator's ranks are, and outlives the operation.
struct CallOptions {
    const Topology& topology;
    bool include_setup = false;  // of Timpani's and composed algorithms: each call includes what normally happens once
    int root = 0;
    bool in_place = false;  // MPI_IN_PLACE where MPI allows it
};

/// The operation `name` with `bytes` bytes per message. `algorithm` names a Timpani algorithm, one composed of the
/// library's collectives (`composed/two_level`), or a way to do the operation, with parameters. If it is empty, the
/// library's collective is called. Throws std::runtime_error if the name is unknown, and NotApplicable if the operation
/// doesn't apply to the communicator's ranks or the size.
std::unique_ptr<Operation> make_operation(const std::string& name, std::int64_t bytes, const std::string& algorithm,
                                          const Datatype& datatype, MPI_Comm comm, const Controls& at_call,
                                          const CallOptions& options);

}  // namespace timpani
