#include "operations/make_operation.hpp"

#include <array>
#include <span>
#include <stdexcept>
#include <string_view>

#include "operations/collective_call.hpp"
#include "operations/fresh_call.hpp"
#include "operations/kinds.hpp"
#include "schedule/parameters.hpp"

namespace timpani {

namespace {

constexpr Parameter kFirst{"first", 0, 0, "rank that begins and reads the clock"};
constexpr Parameter kSecond{"second", 1, 0, "rank that answers"};
constexpr Parameter kWindow{"window", 64, 1, "messages under way at once"};
constexpr std::array kPair{kFirst, kSecond};
constexpr std::array kPairWindow{kFirst, kSecond, kWindow};
constexpr std::array kPairs{Parameter{"pairs", 1, 1, "rank i sends to rank i + pairs"}, kWindow};
constexpr std::array kTrain{kFirst, kSecond, Parameter{"messages", 1, 1, "sent before the answer"},
                            Parameter{"delay_ns", 0, 0, "of spinning between two messages"}};
constexpr std::array kRows{Parameter{"rows", 0, 0, "of the matrix; 0: as nearly square as its elements allow"}};

struct Kind {
    std::string_view operation;
    std::string_view name;
    std::span<const Parameter> parameters;
    std::unique_ptr<Operation> (*make)(const Request&);
};

constexpr std::array kKinds{
    Kind{"latency", "default", kPair, make_ping_pong},
    Kind{"bandwidth", "default", kPairWindow, make_bandwidth},
    Kind{"bidirectional", "default", kPairWindow, make_bidirectional},
    Kind{"message_rate", "default", kPairs, make_message_rate},
    Kind{"prtt", "default", kTrain, make_parametrised_round_trip},
    Kind{"transpose", "column_by_column", kRows, make_column_by_column},
    Kind{"transpose", "nested_datatype", kRows, make_nested_datatype},
    Kind{"transpose", "packed", kRows, make_packed},
    Kind{"transpose", "plain_message", kRows, make_plain_message},
    Kind{"transpose", "local_copy", kRows, make_local_copy},
    Kind{"transpose", "local_memcpy", kRows, make_local_memcpy},
    Kind{"transpose", "alltoall", kRows, make_transpose_alltoall},
    Kind{"transpose", "alltoallv", kRows, make_transpose_alltoallv},
    Kind{"reduce_local", "default", {}, make_reduce_local},
    Kind{"setup", "default", {}, make_setup},
};

std::unique_ptr<Operation> make_collective(const Collective& collective, std::int64_t bytes, const std::string& what,
                                           const Datatype& datatype, MPI_Comm comm, const Controls& at_call,
                                           const ForOurs& for_ours) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    const auto element_bytes = static_cast<std::int64_t>(datatype.bytes);
    Shape shape{ranks, bytes / element_bytes, 0, element_bytes};
    shape.topology = &for_ours.topology;
    if (!what.empty() && for_ours.set_up_each_call) {
        return std::make_unique<FreshCall>(collective, shape, datatype, comm, what);
    }
    if (!what.empty()) return std::make_unique<CollectiveCall>(collective, shape, datatype, comm, what);
    return std::make_unique<CollectiveCall>(collective, shape, datatype, comm, at_call);
}

}  // namespace

std::unique_ptr<Operation> make_operation(const std::string& name, std::int64_t bytes, const std::string& what,
                                          const Datatype& datatype, MPI_Comm comm, const Controls& at_call,
                                          const ForOurs& for_ours) {
    if (const Collective* collective = find_collective(name)) {
        return make_collective(*collective, bytes, what, datatype, comm, at_call, for_ours);
    }
    const NamedText named = split_name(what);
    bool known = false;
    for (const auto& kind : kKinds) {
        known = known || kind.operation == name;
        if (kind.operation != name || kind.name != named.name) continue;
        const std::string whole = name + "/" + what;
        return kind.make({bytes, read_parameters(named.parameters, kind.parameters, whole), datatype, comm, at_call});
    }
    if (known) throw std::runtime_error("there is no " + name + "/" + what);
    throw std::runtime_error("unknown operation '" + name + "'");
}

}  // namespace timpani
