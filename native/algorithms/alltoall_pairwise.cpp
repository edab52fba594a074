// All-to-all by pairwise exchange: in round k each rank sends to the rank k further round the ring, receives from
// the rank k before it, and waits for both before the next round, so that it has one message under way each way.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/shifted_exchange.hpp"

namespace timpani::alltoall_pairwise {
namespace {

std::int64_t to_all_others(const CollectiveArguments& args) { return args.ranks - 1; }

Algorithm pairwise(std::string_view collective) {
    return {
        .collective = collective,
        .name = "pairwise",
        .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
        .cost = "(p−1) α + βm",
        .restrictions = {},
        .parameters = {},
        .aliases = {},
        .rounds = [](const CollectiveArguments& args) -> std::int64_t { return args.ranks; },
        .round = shifted_exchange,
        .requests = [](const CollectiveArguments&) -> std::int64_t { return 2; },
        .symmetry = by_rotation,
        .claims = {.rounds = to_all_others,
                   .most_sent = [](const CollectiveArguments& args) { return (args.ranks - 1) * args.count; },
                   .most_neighbours = to_all_others},
    };
}

const Register alltoall{pairwise("alltoall")};
const Register alltoallv{pairwise("alltoallv")};

}  // namespace
}  // namespace timpani::alltoall_pairwise
