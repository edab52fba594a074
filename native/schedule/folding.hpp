#pragma once

#include "collectives/collective.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

/// How exchanges among a certain number of ranks serve any: at least half of the ranks take part, by default the
/// largest power of two ≤ p; of the first 2·(p − that) ranks only the odd ones do, and each stands in for the even one
/// before it.
struct Folded {
    int ranks;
    int taking_part;
    int folded;

    explicit constexpr Folded(const Shape& shape) : Folded(shape.ranks, 1 << floor_log2(shape.ranks)) {}
    constexpr Folded(int all_ranks, int of_them)
        : ranks(all_ranks), taking_part(of_them), folded(all_ranks - of_them) {}

    /// The number that `rank` has among those taking part, −1 for none; and back.
    [[nodiscard]] constexpr int number(int rank) const {
        return rank < 2 * folded ? (rank % 2 == 1 ? rank / 2 : -1) : rank - folded;
    }
    [[nodiscard]] constexpr int rank(int number) const { return number < folded ? 2 * number + 1 : number + folded; }

    /// The first rank that the one of that number answers for; the last is itself.
    [[nodiscard]] constexpr int first_rank(int number) const { return rank(number) - (number < folded ? 1 : 0); }

    /// Whether another rank stands in for `rank`, and whether `rank` stands in for another.
    [[nodiscard]] constexpr bool stands_aside(int rank) const { return rank < 2 * folded && rank % 2 == 0; }
    [[nodiscard]] constexpr bool stands_in(int rank) const { return rank < 2 * folded && rank % 2 == 1; }
};

}  // namespace timpani
