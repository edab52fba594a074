#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "collectives/topology.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Of algorithms of ours and composed ones: where the communicator's ranks are, which outlives the operation; and
/// whether each call builds what is otherwise built once.
struct ScheduleOptions {
    const Topology& topology;
    bool include_setup = false;
};

/// The operation `name` of so many bytes a message. `algorithm` names an algorithm of ours, one composed of
/// the library's own collectives (`composed/two_level`), or a way of doing the operation, with its parameters; empty
/// for the library's own collective. Throws std::runtime_error where there is no such thing, and NotApplicable where
/// the communicator's ranks or the size don't admit it.
std::unique_ptr<Operation> make_operation(const std::string& name, std::int64_t bytes, const std::string& algorithm,
                                          const Datatype& datatype, MPI_Comm comm, const Controls& at_call,
                                          const ScheduleOptions& options);

}  // namespace timpani
