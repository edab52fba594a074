// Allreduce as a reduce to rank 0 and a broadcast from there along the same binomial tree. It reduces in rank order, so
// any operator is allowed.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/knomial_reduction.hpp"
#include "schedule/patterns/tree.hpp"

namespace timpani::allreduce_reduce_bcast {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 1 + 2 * ceil_log2(args.ranks); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Region result{Buffer::receive, 0, args.count};
    const KnomialTree tree{args.ranks, 2};
    if (args.ranks == 1) steps.copy({Buffer::send, 0, args.count}, result);
    if (k <= tree.rounds()) KnomialReduction(args, 2, 0).round(rank, k, result, 0, steps);
    const std::int64_t down = k - tree.rounds() - 1;
    if (down < 0) return;
    if (down == tree.round_of(rank)) steps.receive(tree.parent(rank), result);
    if (const int child = tree.child(rank, down); child > 0) steps.send(child, result);
}

const Register entry{{
    .collective = "allreduce",
    .name = "reduce_bcast",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "2⌈log₂ p⌉ (α + βm) + ⌈log₂ p⌉ γm",
    .aliases = {"nonoverlapping"},
    .rounds = rounds,
    .round = round,
    .scratch =
        [](const CollectiveArguments& args, int rank) {
            return std::min<std::int64_t>(2, KnomialReduction(args, 2, 0).children(rank)) * args.count;
        },
    .claims = {.rounds = twice_log_ranks, .max_sent = message_each_round, .max_neighbors = log_ranks},
}};

}  // namespace
}  // namespace timpani::allreduce_reduce_bcast
