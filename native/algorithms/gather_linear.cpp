// Gather by the root alone: it receives one rank's block after the other.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/linear_gather_scatter.hpp"

namespace timpani::gather_linear {
namespace {

Algorithm linear(std::string_view collective) {
    return {
        .collective = collective,
        .name = "linear",
        .source = "Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007",
        .cost = "(p−1) α + (p−1)/p βm, m in all",
        .restrictions = {},
        .parameters = {},
        .aliases = {"basic_linear"},
        .rounds = linear_rounds,
        .round = linear_gather_round,
        .next_active = linear_next_active,
        .requests = [](const CollectiveArguments&) -> std::int64_t { return 1; },
        .claims = {.rounds = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; },
                   .most_sent = [](const CollectiveArguments& args) { return NonRootBlocks(args).largest; },
                   .most_neighbours = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; }},
    };
}

const Register gather{linear("gather")};
const Register gatherv{linear("gatherv")};

}  // namespace
}  // namespace timpani::gather_linear
