#pragma once

#include "collectives/collective.hpp"
#include "schedule/arithmetic.hpp"

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

}  // namespace timpani
