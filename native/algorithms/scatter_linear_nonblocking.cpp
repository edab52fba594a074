// Scatter by the root alone: it starts all its sends at once and waits for them together.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/linear_gather_scatter.hpp"

namespace timpani::scatter_linear_nonblocking {
namespace {

const Register entry{{
    .collective = "scatter",
    .name = "linear_nonblocking",
    .source = "Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007",
    .cost = "(p−1) α + (p−1)/p βm, m in all",
    .restrictions = {},
    .parameters = {},
    .aliases = {"linear_nb"},
    .rounds = linear_rounds,
    .round = linear_scatter_round,
    .next_active = linear_next_active,
    .claims = {.rounds = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; },
               .most_sent = [](const CollectiveArguments& args) { return NonRootBlocks(args).elements; },
               .most_neighbours = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; }},
}};

}  // namespace
}  // namespace timpani::scatter_linear_nonblocking
