#pragma once

#include <cstdint>

#include "collectives/collective.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

/// Renumberings of the ranks that leave a schedule unchanged. If all messages of one size take equally long, all ranks
/// then do the same at the same times. A rotation maps rank r to r + s mod p, an exclusive or maps it to r ⊕ s.
enum class Symmetry : std::uint8_t { none, rotation, exclusive_or };

/// The image of `other` under the renumbering that maps rank 0 to `rank`.
constexpr int image_of(Symmetry symmetry, int ranks, int rank, int other) {
    if (symmetry == Symmetry::exclusive_or) return rank ^ other;
    return static_cast<int>((std::int64_t{rank} + other) % ranks);
}
/// The rank whose peer is rank 0 as rank 0's peer is `peer`.
constexpr int mirrored(Symmetry symmetry, int ranks, int peer) {
    return symmetry == Symmetry::exclusive_or ? peer : (ranks - peer) % ranks;
}

// Symmetries that algorithms register.

constexpr Symmetry by_rotation(const CollectiveArguments&) { return Symmetry::rotation; }
/// For algorithms that cut a vector into a part for each rank.
constexpr Symmetry by_rotation_of_parts(const CollectiveArguments& args) {
    return args.count % args.ranks == 0 ? Symmetry::rotation : Symmetry::none;
}
constexpr Symmetry by_exclusive_or(const CollectiveArguments& args) {
    return is_power_of_two(args.ranks) ? Symmetry::exclusive_or : Symmetry::none;
}
/// For algorithms in which ranks reduce data of higher and lower ranks, which is symmetric only without rank order.
constexpr Symmetry by_exclusive_or_in_any_order(const CollectiveArguments& args) {
    return args.commutative ? by_exclusive_or(args) : Symmetry::none;
}
/// The same for a vector that is cut into a part for each rank.
constexpr Symmetry by_exclusive_or_of_parts(const CollectiveArguments& args) {
    return args.count % args.ranks == 0 ? by_exclusive_or_in_any_order(args) : Symmetry::none;
}

}  // namespace timpani
