// All-to-all with everything at once: each rank starts all its receives and sends, its nearest neighbours on the
// ring first so that ranks begin with different targets, and waits for all of them at the end.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/shifted_exchange.hpp"

namespace timpani::alltoall_linear {
namespace {

std::int64_t to_all_others(const CollectiveArguments& args) { return args.ranks - 1; }

Algorithm linear(std::string_view collective) {
    return {
        .collective = collective,
        .name = "linear",
        .source = "Pješivac-Grbović, thesis, University of Tennessee 2007",
        .cost = "(p−1) α + βm",
        .restrictions = {},
        .parameters = {},
        .aliases = {},
        .rounds = [](const CollectiveArguments& args) -> std::int64_t { return args.ranks; },
        .round = shifted_exchange,
        .symmetry = by_rotation,
        .claims = {.rounds = to_all_others,
                   .most_sent = [](const CollectiveArguments& args) { return (args.ranks - 1) * args.count; },
                   .most_neighbours = to_all_others},
    };
}

const Register alltoall{linear("alltoall")};
const Register alltoallv{linear("alltoallv")};

}  // namespace
}  // namespace timpani::alltoall_linear
