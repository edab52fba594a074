// Allgather by recursive doubling: in round k each rank exchanges all blocks that it has with the rank whose number
// differs in bit k. Rank counts that are not a power of two are folded (schedule/patterns/fold.hpp). Pairs are
// neighbors, so each rank's blocks are always those of consecutive ranks.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/fold.hpp"

namespace timpani::allgather_recursive_doubling {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 2 + floor_log2(args.ranks); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    const auto of_ranks = [&](int first, int last) {
        return region(Buffer::receive, block_of(args, first), block_of(args, last));
    };
    const bool last = k == rounds(args) - 1;
    if (fold.has_proxy(rank)) {
        if (k == 0) steps.send(rank + 1, {Buffer::send, 0, block_of(args, rank).count});
        if (last) steps.receive(rank + 1, of_ranks(0, args.ranks - 1));
        return;
    }
    if (k == 0) {
        steps.copy({Buffer::send, 0, block_of(args, rank).count}, of_ranks(rank, rank));
        if (fold.is_proxy(rank)) steps.receive(rank - 1, of_ranks(rank - 1, rank - 1));
        return;
    }
    if (last) {
        if (fold.is_proxy(rank)) steps.send(rank - 1, of_ranks(0, args.ranks - 1));
        return;
    }
    const int half = 1 << (k - 1);
    const auto group = [&](int number) {
        const int first = number & ~(half - 1);
        return of_ranks(fold.first_rank(first), fold.old_rank(first + half - 1));
    };
    const int number = fold.new_rank(rank);
    const int peer = number ^ half;
    steps.send(fold.old_rank(peer), group(number));
    steps.receive(fold.old_rank(peer), group(peer));
}

/// New rank 0 sends the most, since the pairs are in its group.
std::int64_t max_sent(const CollectiveArguments& args) {
    const int active = 1 << floor_log2(args.ranks);
    const int pairs = args.ranks - active;
    std::int64_t blocks = pairs > 0 ? args.ranks : 0;  // to the rank that it is the proxy of
    for (int group = 1; group < active; group *= 2) blocks += group + std::min(group, pairs);
    return blocks * args.count;
}

const RegisterWithV entry{{
    .collective = "allgather",
    .name = "recursive_doubling",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "⌈log₂ p⌉ α + (p−1)/p βm; 2α + (p+1)/p βm more if p is no power of two",
    .rounds = rounds,
    .round = round,
    .symmetry = by_exclusive_or,
    .claims = {.rounds = folded_log_ranks<2>, .max_sent = max_sent, .max_neighbors = folded_log_ranks<1>},
}};

}  // namespace
}  // namespace timpani::allgather_recursive_doubling
