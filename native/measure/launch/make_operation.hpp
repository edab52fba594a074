#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "collectives/topology.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Options of Timpani's and composed algorithms: where the communicator's ranks are, which outlives the operation, and
/// whether each call includes the setup that normally happens once.
struct ScheduleOptions {
    const Topology& topology;
    bool include_setup = false;
};

/// The operation `name` with `bytes` bytes per message. `algorithm` names a Timpani algorithm, one composed of the
/// library's collectives (`composed/two_level`), or a way to do the operation, with parameters. If it is empty, the
/// library's collective is called. Throws std::runtime_error if the name is unknown, and NotApplicable if the operation
/// doesn't apply to the communicator's ranks or the size.
std::unique_ptr<Operation> make_operation(const std::string& name, std::int64_t bytes, const std::string& algorithm,
                                          const Datatype& datatype, MPI_Comm comm, const Controls& at_call,
                                          const ScheduleOptions& options);

}  // namespace timpani
