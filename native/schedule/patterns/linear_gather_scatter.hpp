#pragma once

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/blocks.hpp"

namespace timpani {

// Scatter and gather by the root alone: in round k it sends to, or receives from, the k-th rank counted from itself; in
// round 0 it copies its own block.

inline std::int64_t linear_rounds(const CollectiveArguments& args) { return args.ranks; }

inline void linear_scatter_round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int other = absolute_rank(args, static_cast<int>(k));
    if (rank != args.root && rank != other) return;
    const Region at_root = region(Buffer::send, block_of(args, other));
    const Region at_rank{Buffer::receive, 0, at_root.count};
    if (rank == args.root && k == 0) steps.copy(at_root, at_rank);
    if (rank == args.root && k > 0) steps.send(other, at_root);
    if (rank == other && k > 0) steps.receive(args.root, at_rank);
}

inline void linear_gather_round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int other = absolute_rank(args, static_cast<int>(k));
    if (rank != args.root && rank != other) return;
    const Region at_root = region(Buffer::receive, block_of(args, other));
    const Region at_rank{Buffer::send, 0, at_root.count};
    if (rank == args.root && k == 0) steps.copy(at_rank, at_root);
    if (rank == args.root && k > 0) steps.receive(other, at_root);
    if (rank == other && k > 0) steps.send(args.root, at_rank);
}

/// A rank that is not the root takes part in one round.
inline std::int64_t linear_next_active(const CollectiveArguments& args, int rank, std::int64_t k) {
    const std::int64_t own = relative_rank(args, rank);
    return rank == args.root ? k : k <= own ? own : args.ranks;
}

/// For claims: how many ranks but the root have elements, how many elements these are, and the largest block.
struct NonRootBlocks {
    std::int64_t ranks = 0;
    std::int64_t elements = 0;
    std::int64_t largest = 0;

    explicit NonRootBlocks(const CollectiveArguments& args) {
        for (int rank = 0; rank < args.ranks; ++rank) {
            const auto count = rank == args.root ? 0 : block_of(args, rank).count;
            ranks += count > 0 ? 1 : 0;
            elements += count;
            largest = std::max(largest, count);
        }
    }
};

}  // namespace timpani
