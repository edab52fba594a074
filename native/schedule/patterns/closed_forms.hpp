#pragma once

#include <algorithm>

#include "collectives/topology.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

// Closed forms that several algorithms register or claim, for p ranks and m elements.

/// Constant.
template <std::int64_t number>
std::int64_t always(const CollectiveArguments& /*args*/) {
    return number;
}

/// The value of a parameter.
template <std::size_t index>
std::int64_t parameter(const CollectiveArguments& args) {
    return args.parameters[index];
}

/// p, and p − 1.
inline std::int64_t all_ranks(const CollectiveArguments& args) { return args.ranks; }
inline std::int64_t other_ranks(const CollectiveArguments& args) { return args.ranks - 1; }

/// The neighbors on a ring or a chain.
inline std::int64_t ring_neighbors(const CollectiveArguments& args) { return std::min(2, args.ranks - 1); }

/// ⌈log₂ p⌉, and twice that.
inline std::int64_t log_ranks(const CollectiveArguments& args) { return ceil_log2(args.ranks); }
inline std::int64_t twice_log_ranks(const CollectiveArguments& args) { return 2 * log_ranks(args); }

/// ⌊log₂ p⌋, and `folding` more if p is no power of two (fold.hpp).
template <int folding>
std::int64_t folded_log_ranks(const CollectiveArguments& args) {
    return floor_log2(args.ranks) + (is_power_of_two(args.ranks) ? 0 : folding);
}

/// The children of the root of a k-nomial tree: one for each nonzero value of each digit of a rank. The highest digit
/// has as many values as the ranks fill.
template <auto radix>
std::int64_t children_of_knomial_root(const CollectiveArguments& args) {
    std::int64_t children = 0;
    for (std::int64_t left = args.ranks - 1; left > 0; left /= radix(args)) {
        children += std::min(left, radix(args) - 1);
    }
    return children;
}

/// The ranks at distances around the ring that have one nonzero digit, in both directions.
template <auto radix>
std::int64_t ranks_at_one_digit(const CollectiveArguments& args) {
    std::int64_t distinct = 0;
    for (int other = 1; other < args.ranks; ++other) {
        distinct += has_one_digit(other, radix(args)) || has_one_digit(args.ranks - other, radix(args)) ? 1 : 0;
    }
    return distinct;
}

/// The message once: m elements.
inline std::int64_t message_once(const CollectiveArguments& args) { return args.ranks > 1 ? args.count : 0; }

/// The same, if there are other nodes.
inline std::int64_t message_to_other_nodes(const CollectiveArguments& args) {
    return args.topology->nodes() > 1 ? args.count : 0;
}

/// m elements to each other rank.
inline std::int64_t message_to_each(const CollectiveArguments& args) { return (args.ranks - 1) * args.count; }

/// m elements in each of ⌈log₂ p⌉ rounds.
inline std::int64_t message_each_round(const CollectiveArguments& args) { return ceil_log2(args.ranks) * args.count; }

/// The number of blocks of an all-to-all that leave a node, maximum over nodes, in elements.
inline std::int64_t blocks_leaving_node(const CollectiveArguments& args) {
    std::int64_t maximum = 0;
    for (int node = 0; node < args.topology->nodes(); ++node) {
        const auto here = static_cast<std::int64_t>(args.topology->ranks_of(node).size());
        maximum = std::max(maximum, here * (args.ranks - here) * args.count);
    }
    return maximum;
}

/// All blocks of a reduce-scatter except a rank's own. The maximum is the last rank's: its own block is the shortest.
template <Blocks block>
std::int64_t other_blocks(const CollectiveArguments& args) {
    return block(args, args.ranks - 1).first;
}

}  // namespace timpani
