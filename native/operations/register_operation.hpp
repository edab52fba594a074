#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/topology.hpp"
#include "operations/operation.hpp"
#include "schedule/parameters.hpp"

namespace timpani {

/// Arguments of an operation's constructor.
struct OperationSpec {
    std::int64_t bytes;
    std::span<const Parameter> parameters;  // the parameters that its row of operations.def lists,
    std::vector<std::int64_t> values;       // and their values
    const Datatype& datatype;
    MPI_Comm comm;
    Controls controls;
    const Topology& topology;  // of the communicator's ranks; outlives the operation

    /// The value of a parameter. Throws std::logic_error if the row doesn't list it.
    [[nodiscard]] std::int64_t value_of(std::string_view parameter) const;
};

/// Throws NotApplicable if the operation doesn't apply to the communicator's ranks or the size.
using MakeOperation = std::unique_ptr<Operation> (*)(const OperationSpec& spec);

template <typename Made>
std::unique_ptr<Operation> make(const OperationSpec& spec) {
    return std::make_unique<Made>(spec);
}

/// Registers a way to do an operation, `default` if there is only one: `const RegisterOperation latency{"latency",
/// "default", make<PingPong>};` at the end of its file.
struct RegisterOperation {
    RegisterOperation(std::string_view operation, std::string_view way, MakeOperation make);
};

/// The factory of an operation in that way, or nullptr.
MakeOperation find_maker(std::string_view operation, std::string_view way);

}  // namespace timpani
