#pragma once

#include "collectives/collective.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/step.hpp"

namespace timpani {

/// Lets an exchange among `active` ranks serve any number of ranks up to twice that; by default the largest power of
/// two ≤ p are active. Of the first 2·(p − active) ranks, in pairs, only the odd one is active: it is the proxy of the
/// even one before it, whose data it takes first and to which it sends the result last. Active ranks are numbered anew,
/// in order: MPICH calls that number the new rank.
struct Fold {
    int ranks;
    int active;
    int pairs;

    explicit constexpr Fold(const CollectiveArguments& args) : Fold(args.ranks, 1 << floor_log2(args.ranks)) {}
    constexpr Fold(int all_ranks, int active_ranks)
        : ranks(all_ranks), active(active_ranks), pairs(all_ranks - active_ranks) {}

    /// The number that `rank` has among the active ones, −1 for none; and back.
    [[nodiscard]] constexpr int new_rank(int rank) const {
        return rank < 2 * pairs ? (rank % 2 == 1 ? rank / 2 : -1) : rank - pairs;
    }
    [[nodiscard]] constexpr int old_rank(int number) const { return number < pairs ? 2 * number + 1 : number + pairs; }

    /// The first of the ranks whose data the active one of that number has: itself, or the one before it.
    [[nodiscard]] constexpr int first_rank(int number) const { return old_rank(number) - (number < pairs ? 1 : 0); }

    [[nodiscard]] constexpr bool has_proxy(int rank) const { return rank < 2 * pairs && rank % 2 == 0; }
    [[nodiscard]] constexpr bool is_proxy(int rank) const { return rank < 2 * pairs && rank % 2 == 1; }
};

/// What folding adds to an allreduce of whole vectors: in the first round a rank sends its vector to its proxy, which
/// reduces it, from scratch, into a copy of its own; in the last round the proxy sends it the result. Whether `rank`
/// has no other steps in round k.
inline bool fold_allreduce(const Fold& fold, const CollectiveArguments& args, int rank, std::int64_t k,
                           std::int64_t rounds, Steps& steps) {
    const Region own{Buffer::send, 0, args.count};
    const Region result{Buffer::receive, 0, args.count};
    const bool last = k == rounds - 1;
    if (fold.has_proxy(rank)) {
        if (k == 0) steps.send(rank + 1, own);
        if (last) steps.receive(rank + 1, result);
        return true;
    }
    if (k == 0) {
        const Region theirs{Buffer::scratch, 0, args.count};
        if (fold.is_proxy(rank)) steps.receive(rank - 1, theirs);
        steps.copy(own, result);
        if (fold.is_proxy(rank)) steps.reduce(theirs, result);
    } else if (last && fold.is_proxy(rank)) {
        steps.send(rank - 1, result);
    }
    return k == 0 || last;
}

}  // namespace timpani
