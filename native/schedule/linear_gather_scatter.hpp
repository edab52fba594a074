#pragma once

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/blocks.hpp"

namespace timpani {

// Scatter and gather by the root alone: in round k it sends to, or receives from, the k-th rank counted from itself; in
// round 0 it copies its own block.

inline std::int64_t linear_rounds(const Shape& shape) { return shape.ranks; }

inline void linear_scatter_round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const int other = absolute_rank(shape, static_cast<int>(k));
    if (rank != shape.root && rank != other) return;
    const Region at_root = region(Buffer::send, block_of(shape, other));
    const Region at_rank{Buffer::receive, 0, at_root.count};
    if (rank == shape.root && k == 0) steps.copy(at_root, at_rank);
    if (rank == shape.root && k > 0) steps.send(other, at_root);
    if (rank == other && k > 0) steps.receive(shape.root, at_rank);
}

inline void linear_gather_round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const int other = absolute_rank(shape, static_cast<int>(k));
    if (rank != shape.root && rank != other) return;
    const Region at_root = region(Buffer::receive, block_of(shape, other));
    const Region at_rank{Buffer::send, 0, at_root.count};
    if (rank == shape.root && k == 0) steps.copy(at_rank, at_root);
    if (rank == shape.root && k > 0) steps.receive(other, at_root);
    if (rank == other && k > 0) steps.send(shape.root, at_rank);
}

/// For claims: how many ranks but the root have elements, how many elements these are, and the largest block.
struct NonRootBlocks {
    std::int64_t ranks = 0;
    std::int64_t elements = 0;
    std::int64_t largest = 0;

    explicit NonRootBlocks(const Shape& shape) {
        for (int rank = 0; rank < shape.ranks; ++rank) {
            const auto count = rank == shape.root ? 0 : block_of(shape, rank).count;
            ranks += count > 0 ? 1 : 0;
            elements += count;
            largest = std::max(largest, count);
        }
    }
};

}  // namespace timpani
