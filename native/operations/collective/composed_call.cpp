#include "operations/collective/composed_call.hpp"

#include <array>
#include <limits>
#include <span>
#include <stdexcept>

#include "schedule/parameters.hpp"

namespace timpani {

namespace {

namespace composed_parameter {
#define PARAMETER(name, default_value, minimum, meaning) \
    [[maybe_unused]] constexpr Parameter name{#name, default_value, minimum, meaning};
#include "collectives/operations.def"
}  // namespace composed_parameter

void require(int have, int minimum, const char* what) {
    if (have >= minimum) return;
    throw NotApplicable("takes " + std::to_string(minimum) + " " + what + " or more, and the ranks are on " +
                        std::to_string(have));
}

/// At each level, communicators pass the blocks of several ranks, at most the blocks of all.
void require_int_counts(const Collective& collective, const CollectiveArguments& args) {
    const bool in_blocks = collective.send.in_blocks() || collective.receive.in_blocks();
    const std::int64_t maximum = in_blocks ? args.count * args.ranks : args.count;
    if (maximum <= std::numeric_limits<int>::max()) return;
    throw NotApplicable("passes up to " + std::to_string(maximum) +
                        " elements to MPI in one call, more than its int counts hold");
}

}  // namespace

void require_extent(const Topology& topology, int min_nodes, int min_groups) {
    require(topology.nodes(), min_nodes, "nodes");
    require(topology.groups(), min_groups, "groups");
}

ComposedCall::ComposedCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                           MPI_Comm comm, const std::string& named, bool setup_each_call)
    : CollectiveCall(collective, args, datatype, comm, {}, {}) {
    require_int_counts(collective, args);
    constexpr std::array kParameters{composed_parameter::setup_each_call};
    const NamedText text = split_name(named);
    const std::string whole = std::string(collective.name) + "/composed/" + text.name;
    const Composed* const found = find_composed(collective.name, text.name);
    if (found == nullptr) throw std::runtime_error("there is no " + whole);
    const bool has_communicators = !found->shape.name.empty();
    const std::span<const Parameter> parameters(kParameters.data(), has_communicators ? 1 : 0);
    const auto values = read_parameters(text.parameters, parameters, whole);
    require_extent(*args.topology, found->min_nodes, found->min_groups);
    const bool each_call = setup_each_call || (has_communicators && values[0] != 0);
    composed_ = found->make({args, comm, datatype.mpi, datatype.bytes, datatype.op, each_call}, found->shape);
}

}  // namespace timpani
