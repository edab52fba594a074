#include "operations/collective/collective_call.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>

#include "execute/execution.hpp"
#include "schedule/algorithm.hpp"

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

CollectiveCall::CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                               MPI_Comm comm, Controls controls)
    : CollectiveCall(collective, args, datatype, comm, std::move(controls), {}) {
    call_ = bound_library_call(collective, args, rank(), comm, datatype.mpi, datatype.op);
}

CollectiveCall::CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                               MPI_Comm comm, const std::string& algorithm)
    : CollectiveCall(collective, args, datatype, comm, {}, {}) {
    const BoundAlgorithm bound = timpani::bind(collective.name, algorithm, args_);
    args_ = bound.args;
    call_ = [execution = std::make_shared<Execution>(*bound.algorithm, args_, comm, datatype.mpi, datatype.op)](
                void* send, void* receive) { return (*execution)(send, receive); };
}

CollectiveCall::CollectiveCall(const Collective& collective, const CollectiveArguments& args, const Datatype& datatype,
                               MPI_Comm comm, Controls controls, BoundLibraryCall call)
    : Operation(datatype, comm, std::move(controls)), collective_(collective), args_(args), call_(std::move(call)) {}

void CollectiveCall::pass_in_place() {
    const InPlace allowed = collective_.in_place();
    const bool is_root = rank() == args_.root;
    sends_in_place_ = allowed == InPlace::send || (allowed == InPlace::send_at_root && is_root);
    receives_in_place_ = allowed == InPlace::receive_at_root && is_root;
}

int CollectiveCall::operator()(std::byte* send, std::byte* receive) {
    return run(sends_in_place_ ? MPI_IN_PLACE : send, receives_in_place_ ? MPI_IN_PLACE : receive);
}

std::int64_t CollectiveCall::send_elements() const {
    return sends_in_place_ ? 0 : collective_.send_elements(args_, rank());
}

std::int64_t CollectiveCall::receive_elements() const {
    if (receives_in_place_) return 0;
    return std::max(collective_.receive_elements(args_, rank()), contributed().end());
}

Part CollectiveCall::contributed() const {
    return sends_in_place_ ? collective_.contributed_in_place(args_, rank()) : Part{0, 0};
}

void CollectiveCall::sent(std::int64_t first, Values values) const {
    fill_from(collective_, args_.ranks, {rank(), rank(), first}, values, datatype().combination);
}

void CollectiveCall::poison(std::int64_t first, Values values) const {
    Operation::poison(first, values);
    const Part own = contributed();
    const std::int64_t begin = std::max(first, own.first);
    const std::int64_t end = std::min(first + std::ssize(values), own.end());
    if (begin >= end) return;
    sent(begin - own.first,
         values.subspan(static_cast<std::size_t>(begin - first), static_cast<std::size_t>(end - begin)));
}

void CollectiveCall::expected(std::int64_t first, Values values) const {
    const std::int64_t received = collective_.receive_elements(args_, rank());
    while (!values.empty()) {
        if (first >= received) {  // contributed in place, and undefined afterwards
            std::ranges::fill(values, kUndefined);
            return;
        }
        const auto length = static_cast<std::size_t>(collective_.end_of_run(args_, rank(), first) - first);
        const Values run = values.first(std::min(values.size(), length));
        if (const auto origin = collective_.origin(args_, rank(), first)) {
            fill_from(collective_, args_.ranks, *origin, run, datatype().combination);
        } else {
            std::ranges::fill(run, kUndefined);
        }
        first += static_cast<std::int64_t>(run.size());
        values = values.subspan(run.size());
    }
}

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
