// Scatter by the root alone: it sends one rank's block after the other.

#include "schedule/algorithm.hpp"
#include "schedule/linear_gather_scatter.hpp"

namespace timpani::scatter_linear {
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
        .round = linear_scatter_round,
        .requests = [](const Shape&) -> std::int64_t { return 1; },
        .claims = {.rounds = [](const Shape& shape) { return NonRootBlocks(shape).ranks; },
                   .most_sent = [](const Shape& shape) { return NonRootBlocks(shape).elements; },
                   .most_neighbours = [](const Shape& shape) { return NonRootBlocks(shape).ranks; }},
    };
}

const Register scatter{linear("scatter")};
const Register scatterv{linear("scatterv")};

}  // namespace
}  // namespace timpani::scatter_linear
