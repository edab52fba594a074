// Scatter by the root alone: it sends each rank its block, one after the other.

#include "schedule/algorithm.hpp"
#include "schedule/direct_blocks.hpp"

namespace timpani {
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
        .rounds = rounds_directly,
        .round = scatter_directly,
        .requests = [](const Shape&) -> std::int64_t { return 1; },
        .claims = {.rounds = [](const Shape& shape) { return BlocksBesideRoot(shape).ranks; },
                   .most_sent = [](const Shape& shape) { return BlocksBesideRoot(shape).elements; },
                   .most_neighbours = [](const Shape& shape) { return BlocksBesideRoot(shape).ranks; }},
    };
}

const Register scatter{linear("scatter")};
const Register scatterv{linear("scatterv")};

}  // namespace
}  // namespace timpani
