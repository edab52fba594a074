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

/// What an operation is made for.
struct OperationSpec {
    std::int64_t bytes;
    std::span<const Parameter> parameters;  // those that its row of operations.def names,
    std::vector<std::int64_t> values;       // and what they are set to
    const Datatype& datatype;
    MPI_Comm comm;
    Controls controls;
    const Topology& topology;  // where the communicator's ranks are; outlives the operation

    /// What one of them is set to; std::logic_error where the row doesn't name it.
    [[nodiscard]] std::int64_t value_of(std::string_view parameter) const;
};

/// Throws NotApplicable where the communicator's ranks or the size don't admit the operation.
using MakeOperation = std::unique_ptr<Operation> (*)(const OperationSpec& spec);

template <typename Made>
std::unique_ptr<Operation> make(const OperationSpec& spec) {
    return std::make_unique<Made>(spec);
}

/// Enters a way of doing an operation, `default` where there is but one, into the registry:
/// `const RegisterOperation latency{"latency", "default", make<PingPong>};` at the end of its file.
struct RegisterOperation {
    RegisterOperation(std::string_view operation, std::string_view way, MakeOperation make);
};

/// What makes the operation in that way, or nullptr.
MakeOperation find_maker(std::string_view operation, std::string_view way);

}  // namespace timpani
