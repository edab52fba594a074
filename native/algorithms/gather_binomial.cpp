// Gather up a binomial tree: in round k each rank whose number, counted from the root, is an odd multiple of 2ᵏ
// sends the blocks of the 2ᵏ ranks from itself on to the rank 2ᵏ before it.

#include "schedule/algorithm.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_gather_scatter.hpp"

namespace timpani::gather_binomial {
namespace {

KnomialTree tree(const Shape& shape) { return {shape.ranks, 2}; }

std::int64_t rounds(const Shape& shape) { return tree_gather_scatter_rounds(tree(shape)); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    tree_gather_round(tree(shape), shape, rank, k, steps);
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
                   .most_sent = [](const Shape& shape) { return SubtreeTraffic(shape, 2).largest_subtree; },
                   .most_neighbours = [](const Shape& shape) { return SubtreeTraffic(shape, 2).most_neighbours; }},
    };
}

const Register gather{binomial("gather")};
const Register gatherv{binomial("gatherv")};

}  // namespace
}  // namespace timpani::gather_binomial
