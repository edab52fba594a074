#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "collectives/collective.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/fold.hpp"

namespace timpani {

/// The butterfly of Bine ("binomial negabinary") collectives over 2^`levels` numbers. In exchange k an even number
/// meets the one 1 − 2 + 4 − … ± 2ᵏ further: 1, −1, 3, −5, 11, … An odd number meets the one as far in the other
/// direction. That is about two thirds of the distance 2ᵏ of recursive doubling. What a number has gathered before
/// exchange k is a range of 2ᵏ consecutive numbers, counted cyclically: its distances from them are what k digits to
/// base −2 express.
struct BineButterfly {
    int levels;

    [[nodiscard]] constexpr int partner(int number, int k) const {
        const std::int64_t distance = (1 + (k % 2 == 0 ? 1 : -1) * (std::int64_t{2} << k)) / 3;
        return wrapped(number % 2 == 0 ? number + distance : number - distance);
    }
    /// The first number of the range that `number` has gathered before exchange k.
    [[nodiscard]] constexpr int first(int number, int k) const {
        const std::int64_t digits = number % 2 == 0 ? kOddPlaces : kOddPlaces >> 1;
        return wrapped(number - (digits & ((std::int64_t{1} << k) - 1)));
    }
    /// In a broadcast from number 0 by these exchanges in reverse order, the one in which `number` receives: all digits
    /// to base −2 below are equal. `levels` for number 0.
    [[nodiscard]] constexpr int receives_in(int number) const {
        const auto digits = static_cast<std::uint32_t>(wrapped((number + kOddPlaces) ^ kOddPlaces));
        const int equal = digits % 2 == 0 ? std::countr_zero(digits) : std::countr_one(digits);
        return number == 0 ? levels : std::min(equal, levels) - 1;
    }

  private:
    static constexpr std::int64_t kOddPlaces = 0xaaaaaaaa;  // the places of −2, −8, −32, …

    [[nodiscard]] constexpr int wrapped(std::int64_t number) const {
        return static_cast<int>(number & ((std::int64_t{1} << levels) - 1));
    }
};

/// A Bine tree: the butterfly's exchanges with what comes from number 0, the root's. Rank counts that are not a power
/// of two are folded, such that the root is active.
struct BineTree {
    Fold fold;
    BineButterfly butterfly;
    int first_rank;  // number 0 of the fold

    explicit constexpr BineTree(const CollectiveArguments& args)
        : fold(args),
          butterfly{floor_log2(args.ranks)},
          first_rank((args.root + args.ranks - (fold.pairs > 0 ? 1 : 0)) % args.ranks) {}

    /// `rank` in the fold, and its inverse.
    [[nodiscard]] constexpr int folded(int rank) const { return (rank - first_rank + fold.ranks) % fold.ranks; }
    [[nodiscard]] constexpr int rank(int folded) const { return (folded + first_rank) % fold.ranks; }
    [[nodiscard]] constexpr int rank_of(int number) const { return rank(fold.old_rank(number)); }
};

/// Calls `visit(from, last)` for the `numbers` numbers from `first` on, counted cyclically among `active`: once, or
/// twice if they continue at 0.
template <typename Visit>
void visit_cyclic_range(int active, int first, int numbers, const Visit& visit) {
    if (first < active) visit(first, std::min(first + numbers, active) - 1);
    if (first + numbers > active) visit(0, first + numbers - active - 1);
}

}  // namespace timpani
