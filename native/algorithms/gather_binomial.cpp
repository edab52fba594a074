// Gather up a binomial tree: in round k each rank whose number, counted from the root, is an odd multiple of 2ᵏ
// sends the blocks of the 2ᵏ ranks from itself on to the rank 2ᵏ before it.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_gather_scatter.hpp"

namespace timpani::gather_binomial {
namespace {

KnomialTree tree(const CollectiveArguments& args) { return {args.ranks, 2}; }

std::int64_t rounds(const CollectiveArguments& args) { return tree_gather_scatter_rounds(tree(args)); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    tree_gather_round(tree(args), args, rank, k, steps);
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
        .scratch = [](const CollectiveArguments& args, int rank) { return subtree_scratch(tree(args), args, rank); },
        .claims = {
            .rounds = [](const CollectiveArguments& args) { return SubtreeTraffic(args, 2).rounds; },
            .most_sent = [](const CollectiveArguments& args) { return SubtreeTraffic(args, 2).largest_subtree; },
            .most_neighbours = [](const CollectiveArguments& args) { return SubtreeTraffic(args, 2).most_neighbours; }},
    };
}

const Register gather{binomial("gather")};
const Register gatherv{binomial("gatherv")};

}  // namespace
}  // namespace timpani::gather_binomial
