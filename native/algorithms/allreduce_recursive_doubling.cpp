// Allreduce by recursive doubling: in round k each rank exchanges its partial result with the rank whose number differs
// in bit k, and both reduce the two in rank order. Rank counts that are not a power of two are folded
// (schedule/patterns/fold.hpp).

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/fold.hpp"
#include "schedule/patterns/rank_order.hpp"

namespace timpani::allreduce_recursive_doubling {
namespace {

std::int64_t rounds(const CollectiveArguments& args) {
    const Fold fold(args);
    return 2 + ceil_log2(fold.active);
}

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    const Region mine{Buffer::receive, 0, args.count};
    const Region theirs{Buffer::scratch, 0, args.count};
    if (k == 0) {
        if (fold.has_proxy(rank)) {
            steps.send(rank + 1, {Buffer::send, 0, args.count});
            return;
        }
        steps.copy({Buffer::send, 0, args.count}, mine);
        if (fold.is_proxy(rank)) {
            steps.receive(rank - 1, theirs);
            steps.reduce(theirs, mine);
        }
        return;
    }
    if (k == rounds(args) - 1) {
        if (fold.has_proxy(rank)) steps.receive(rank + 1, mine);
        if (fold.is_proxy(rank)) steps.send(rank - 1, mine);
        return;
    }
    const int number = fold.new_rank(rank);
    if (number < 0) return;
    const int peer = fold.old_rank(number ^ (1 << (k - 1)));
    steps.send(peer, mine);
    steps.receive(peer, theirs);
    reduce_in_order(args, theirs, mine, peer < rank, steps);
}

const Register entry{{
    .collective = "allreduce",
    .name = "recursive_doubling",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "⌈log₂ p⌉ (α + βm + γm)",
    .rounds = rounds,
    .round = round,
    .scratch = [](const CollectiveArguments& args, int) { return args.count; },
    .symmetry = by_exclusive_or_in_any_order,
    .claims = {.rounds = folded_log_ranks<2>,
               .max_sent =
                   [](const CollectiveArguments& args) {
                       return (floor_log2(args.ranks) + (is_power_of_two(args.ranks) ? 0 : 1)) * args.count;
                   },
               .max_neighbors = folded_log_ranks<1>},
}};

}  // namespace
}  // namespace timpani::allreduce_recursive_doubling
