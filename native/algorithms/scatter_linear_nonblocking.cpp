// Scatter by the root alone: it starts all its sends at once and waits for them together.

#include "schedule/algorithm.hpp"
#include "schedule/linear_gather_scatter.hpp"

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
    .claims = {.rounds = [](const Shape& shape) { return NonRootBlocks(shape).ranks; },
               .most_sent = [](const Shape& shape) { return NonRootBlocks(shape).elements; },
               .most_neighbours = [](const Shape& shape) { return NonRootBlocks(shape).ranks; }},
}};

}  // namespace
}  // namespace timpani::scatter_linear_nonblocking
