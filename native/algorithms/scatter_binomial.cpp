// Scatter down a binomial tree: in round k each rank that has the blocks of a range of ranks sends those of the
// upper half to the first rank of that half.

#include "schedule/algorithm.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_gather_scatter.hpp"

namespace timpani::scatter_binomial {
namespace {

KnomialTree tree(const Shape& shape) { return {shape.ranks, 2}; }

std::int64_t rounds(const Shape& shape) { return tree_gather_scatter_rounds(tree(shape)); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    tree_scatter_round(tree(shape), shape, rank, k, steps);
}

Algorithm binomial(std::string_view collective) {
    return {
        .collective = collective,
        .name = "binomial",
        .source = "Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007",
        .cost = "⌈log₂ p⌉ α + (p−1)/p βm, m in all",
        .restrictions = {},
        .parameters = {},
        .aliases = {},
        .rounds = rounds,
        .round = round,
        .scratch = [](const Shape& shape, int rank) { return subtree_scratch(tree(shape), shape, rank); },
        .claims = {.rounds = [](const Shape& shape) { return SubtreeTraffic(shape, 2).rounds; },
                   .most_sent = [](const Shape& shape) { return block_elements(shape, 1, shape.ranks); },
                   .most_neighbours = [](const Shape& shape) { return SubtreeTraffic(shape, 2).most_neighbours; }},
    };
}

const Register scatter{binomial("scatter")};
const Register scatterv{binomial("scatterv")};

}  // namespace
}  // namespace timpani::scatter_binomial
