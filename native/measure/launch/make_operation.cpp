#include "measure/launch/make_operation.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "execute/rank_and_size.hpp"
#include "operations/collective/collective_call.hpp"
#include "operations/operation.hpp"
#include "schedule/algorithm.hpp"

namespace timpani {

namespace {

constexpr std::string_view kOnlyWay = "default";
constexpr std::string_view kComposed = "composed/";

namespace parameter {
#define PARAMETER(name, default_value, minimum, meaning) \
    constexpr Parameter name{#name, default_value, minimum, meaning};
#include "collectives/operations.def"
}  // namespace parameter

/// An operation that is not a collective.
struct OtherOperation {
    std::string_view name;
    std::vector<Parameter> parameters;
};

const OtherOperation* find_operation(std::string_view wanted) {
    using namespace parameter;
    static const std::array all{
#define LIST(...) __VA_ARGS__
#define OPERATION(name, kind, title, size_meaning, size, shown, min_ranks, parameters) \
    OtherOperation{#name, {LIST parameters}},
#include "collectives/operations.def"
#undef LIST
    };
    const auto* found = std::ranges::find(all, wanted, &OtherOperation::name);
    return found == all.end() ? nullptr : found;
}

std::unique_ptr<Operation> make_collective(const Collective& collective, std::int64_t bytes,
                                           const std::string& algorithm, const Datatype& datatype, MPI_Comm comm,
                                           const Controls& at_call, const CallOptions& options) {
    const auto element_bytes = static_cast<std::int64_t>(datatype.bytes);
    if (collective.rooted() && options.root >= size_of(comm)) {
        throw NotApplicable("rank " + std::to_string(options.root) + " can't be the root of " +
                            std::to_string(size_of(comm)) + " ranks");
    }
    CollectiveArguments args{size_of(comm), bytes / element_bytes, collective.rooted() ? options.root : 0,
                             element_bytes};
    args.topology = &options.topology;
    std::unique_ptr<CollectiveCall> call;
    if (algorithm.starts_with(kComposed)) {
        const std::string named = algorithm.substr(kComposed.size());
        call = std::make_unique<ComposedCall>(collective, args, datatype, comm, named, options.include_setup);
    } else if (algorithm.empty()) {
        call = std::make_unique<CollectiveCall>(collective, args, datatype, comm, at_call);
    } else if (options.include_setup) {
        call = std::make_unique<CallWithSetup>(collective, args, datatype, comm, algorithm);
    } else {
        call = std::make_unique<CollectiveCall>(collective, args, datatype, comm, algorithm);
    }
    if (options.in_place) call->pass_in_place();
    return call;
}

}  // namespace

std::unique_ptr<Operation> make_operation(const std::string& name, std::int64_t bytes, const std::string& algorithm,
                                          const Datatype& datatype, MPI_Comm comm, const Controls& at_call,
                                          const CallOptions& options) {
    if (const Collective* collective = find_collective(name)) {
        return make_collective(*collective, bytes, algorithm, datatype, comm, at_call, options);
    }
    const OtherOperation* operation = find_operation(name);
    if (operation == nullptr) throw std::runtime_error("unknown operation '" + name + "'");
    const NamedText named = split_name(algorithm);
    const MakeOperation make = find_maker(name, named.name.empty() ? kOnlyWay : named.name);
    const std::string whole = name + "/" + algorithm;
    if (make == nullptr) throw std::runtime_error("there is no " + whole);
    const std::span<const Parameter> parameters = operation->parameters;
    return make({bytes, parameters, read_parameters(named.parameters, parameters, whole), datatype, comm, at_call,
                 options.topology});
}

}  // namespace timpani
