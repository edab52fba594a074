#pragma once

#include <cstdint>

#include "collectives/collective.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

/// Which renumberings of the ranks leave a schedule as it is, so that all ranks do the same at the same times where all
/// messages of a size cost the same: those by rotation take rank r to r + s mod p, those by exclusive or to r ⊕ s.
enum class Symmetry : std::uint8_t { none, rotation, exclusive_or };

/// Where the renumbering that takes rank 0 to `rank` takes `other`.
constexpr int image_of(Symmetry symmetry, int ranks, int rank, int other) {
    if (symmetry == Symmetry::exclusive_or) return rank ^ other;
    return static_cast<int>((std::int64_t{rank} + other) % ranks);
}
/// The rank to which rank 0 is what `peer` is to rank 0.
constexpr int mirrored(Symmetry symmetry, int ranks, int peer) {
    return symmetry == Symmetry::exclusive_or ? peer : (ranks - peer) % ranks;
}

// What algorithms register as their symmetry.

constexpr Symmetry by_rotation(const CollectiveArguments&) { return Symmetry::rotation; }
/// Where a vector is cut into a part for each rank.
constexpr Symmetry by_rotation_of_parts(const CollectiveArguments& args) {
    return args.count % args.ranks == 0 ? Symmetry::rotation : Symmetry::none;
}
constexpr Symmetry by_exclusive_or(const CollectiveArguments& args) {
    return is_power_of_two(args.ranks) ? Symmetry::exclusive_or : Symmetry::none;
}
/// Where ranks reduce what they have with what a higher or a lower one has, which is the same only in any order.
constexpr Symmetry by_exclusive_or_in_any_order(const CollectiveArguments& args) {
    return args.commutative ? by_exclusive_or(args) : Symmetry::none;
}
/// And where the vector is cut into a part for each rank.
constexpr Symmetry by_exclusive_or_of_parts(const CollectiveArguments& args) {
    return args.count % args.ranks == 0 ? by_exclusive_or_in_any_order(args) : Symmetry::none;
}

}  // namespace timpani
