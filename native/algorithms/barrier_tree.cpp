// Barrier along a binomial tree: each rank notifies its parent when its whole subtree has arrived, then rank 0
// releases all down the same tree.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/tree.hpp"

namespace timpani::barrier_tree {
namespace {

KnomialTree tree(const CollectiveArguments& args) { return {args.ranks, 2}; }

std::int64_t rounds(const CollectiveArguments& args) { return 2 * tree(args).rounds(); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const std::int64_t levels = tree(args).rounds();
    const bool up = k < levels;
    const std::int64_t level = up ? levels - 1 - k : k - levels;
    const int child = tree(args).child(rank, level);
    if (child > 0 && up) steps.await(child);
    if (child > 0 && !up) steps.notify(child);
    if (tree(args).round_of(rank) != level) return;
    if (up) {
        steps.notify(tree(args).parent(rank));
    } else {
        steps.await(tree(args).parent(rank));
    }
}

const Register entry{{
    .collective = "barrier",
    .name = "tree",
    .source = "Mellor-Crummey, Scott, ACM TOCS 1991",
    .cost = "2 ⌈log₂ p⌉ α",
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = twice_log_ranks, .max_sent = always<0>, .max_neighbors = log_ranks},
}};

}  // namespace
}  // namespace timpani::barrier_tree
