// Barrier by recursive doubling: in round k each rank and the one whose number differs in bit k notify each other. Rank
// counts that are not a power of two are folded (schedule/patterns/fold.hpp).

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/fold.hpp"

namespace timpani::barrier_recursive_doubling {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 2 + floor_log2(args.ranks); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    if (k == 0) {
        if (fold.has_proxy(rank)) steps.notify(rank + 1);
        if (fold.is_proxy(rank)) steps.await(rank - 1);
    } else if (k == rounds(args) - 1) {
        if (fold.is_proxy(rank)) steps.notify(rank - 1);
        if (fold.has_proxy(rank)) steps.await(rank + 1);
    } else if (!fold.has_proxy(rank)) {
        const int peer = fold.old_rank(fold.new_rank(rank) ^ (1 << (k - 1)));
        steps.notify(peer);
        steps.await(peer);
    }
}

const Register entry{{
    .collective = "barrier",
    .name = "recursive_doubling",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "⌈log₂ p⌉ α",
    .rounds = rounds,
    .round = round,
    .symmetry = by_exclusive_or,
    .claims = {.rounds = folded_log_ranks<2>, .max_sent = always<0>, .max_neighbors = folded_log_ranks<1>},
}};

}  // namespace
}  // namespace timpani::barrier_recursive_doubling
