// Scatter down a binomial tree: in round k each rank that has the blocks of a range of ranks sends those of the
// upper half to the first rank of that half.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_gather_scatter.hpp"

namespace timpani::scatter_binomial {
namespace {

KnomialTree tree(const CollectiveArguments& args) { return {args.ranks, 2}; }

std::int64_t rounds(const CollectiveArguments& args) { return tree_gather_scatter_rounds(tree(args)); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    tree_scatter_round(tree(args), args, rank, k, steps);
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
            .most_sent = [](const CollectiveArguments& args) { return block_elements(args, 1, args.ranks); },
            .most_neighbours = [](const CollectiveArguments& args) { return SubtreeTraffic(args, 2).most_neighbours; }},
    };
}

const Register scatter{binomial("scatter")};
const Register scatterv{binomial("scatterv")};

}  // namespace
}  // namespace timpani::scatter_binomial
