#pragma once

#include "collectives/collective.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/step.hpp"

namespace timpani {

/// Makes an exchange among `active` ranks work for up to twice as many ranks; by default the largest power of two ≤ p
/// are active. The first 2·(p − active) ranks form pairs, and only the odd rank of a pair is active. It is the proxy of
/// the even one before it: it first receives that rank's data, and finally sends it the result. Active ranks are
/// renumbered in order. MPICH calls that number the new rank.
struct Fold {
    int ranks;
    int active;
    int pairs;

    explicit constexpr Fold(const CollectiveArguments& args) : Fold(args.ranks, 1 << floor_log2(args.ranks)) {}
    constexpr Fold(int all_ranks, int active_ranks)
        : ranks(all_ranks), active(active_ranks), pairs(all_ranks - active_ranks) {}

    /// The number of `rank` among the active ranks, −1 if it is inactive; and the inverse.
    [[nodiscard]] constexpr int new_rank(int rank) const {
        return rank < 2 * pairs ? (rank % 2 == 1 ? rank / 2 : -1) : rank - pairs;
    }
    [[nodiscard]] constexpr int old_rank(int number) const { return number < pairs ? 2 * number + 1 : number + pairs; }

    /// The lower rank of those whose data this active rank has: its proxied rank, or itself.
    [[nodiscard]] constexpr int first_rank(int number) const { return old_rank(number) - (number < pairs ? 1 : 0); }

    [[nodiscard]] constexpr bool has_proxy(int rank) const { return rank < 2 * pairs && rank % 2 == 0; }
    [[nodiscard]] constexpr bool is_proxy(int rank) const { return rank < 2 * pairs && rank % 2 == 1; }
};

/// The steps that folding adds to an allreduce of whole vectors. In the first round a rank sends its vector to its
/// proxy, which copies its vector and reduces the received one, in scratch, into the copy. In the last round the proxy
/// sends it the result. Returns whether `rank` has no other steps in round k.
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
