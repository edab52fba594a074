// Gather up a k-nomial tree: each rank receives the blocks of each child's subtree and sends them to its parent,
// together with its own.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_gather_scatter.hpp"

namespace timpani::gather_knomial {
namespace {

KnomialTree tree(const CollectiveArguments& args) { return {args.ranks, args.parameters[0]}; }

std::int64_t rounds(const CollectiveArguments& args) { return tree_gather_scatter_rounds(tree(args)); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    tree_gather_round(tree(args), args, rank, k, steps);
}

const Register entry{{
    .collective = "gather",
    .name = "knomial",
    .source = "Wilkins et al., CLUSTER 2023",
    .cost = "⌈log_k p⌉ (k−1) α + (p−1)/p βm, k the radix, m in all",
    .restrictions = {},
    .parameters = {{"radix", 4, 2, "base of the digits, one more than a rank's children for each", kTrialRadices}},
    .aliases = {},
    .rounds = rounds,
    .round = round,
    .scratch = [](const CollectiveArguments& args, int rank) { return subtree_scratch(tree(args), args, rank); },
    .claims = {
        .rounds = [](const CollectiveArguments& args) { return SubtreeTraffic(args, args.parameters[0]).rounds; },
        .most_sent =
            [](const CollectiveArguments& args) { return SubtreeTraffic(args, args.parameters[0]).largest_subtree; },
        .most_neighbours =
            [](const CollectiveArguments& args) { return SubtreeTraffic(args, args.parameters[0]).most_neighbours; }},
}};

}  // namespace
}  // namespace timpani::gather_knomial
