// Gather by the root alone: it starts all its receives at once and waits for them together.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/linear_gather_scatter.hpp"

namespace timpani::gather_linear_nonblocking {
namespace {

const Register entry{{
    .collective = "gather",
    .name = "linear_nonblocking",
    .source = "Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007",
    .cost = "(p−1) α + (p−1)/p βm, m in all",
    .restrictions = {},
    .parameters = {},
    .aliases = {},
    .rounds = linear_rounds,
    .round = linear_gather_round,
    .next_active = linear_next_active,
    .claims = {.rounds = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; },
               .most_sent = [](const CollectiveArguments& args) { return NonRootBlocks(args).largest; },
               .most_neighbours = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; }},
}};

}  // namespace
}  // namespace timpani::gather_linear_nonblocking
