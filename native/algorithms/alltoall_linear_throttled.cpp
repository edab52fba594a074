// All-to-all with a bounded number of messages under way: as alltoall_linear.cpp, but a rank starts its next receive
// and send only when the oldest has ended, which keeps the library's matching queues and the network's buffers
// short.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/shifted_exchange.hpp"

namespace timpani::alltoall_linear_throttled {
namespace {

std::int64_t to_all_others(const CollectiveArguments& args) { return args.ranks - 1; }

Algorithm linear_throttled(std::string_view collective) {
    return {
        .collective = collective,
        .name = "linear_throttled",
        .source = "Open MPI, coll/base, all-to-all linear_sync",
        .cost = "(p−1) α + βm",
        .restrictions = {},
        .parameters = {{"requests", 4, 1, "messages under way each way"}},
        .aliases = {"linear_sync"},
        .rounds = [](const CollectiveArguments& args) -> std::int64_t { return args.ranks; },
        .round = shifted_exchange,
        .requests = [](const CollectiveArguments& args) { return 2 * args.parameters[0]; },
        .symmetry = by_rotation,
        .claims = {.rounds = to_all_others,
                   .most_sent = [](const CollectiveArguments& args) { return (args.ranks - 1) * args.count; },
                   .most_neighbours = to_all_others},
    };
}

const Register alltoall{linear_throttled("alltoall")};
const Register alltoallv{linear_throttled("alltoallv")};

}  // namespace
}  // namespace timpani::alltoall_linear_throttled
