#pragma once

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

// Blocks of a buffer, and ranges of consecutive ones, as regions.

/// The block of `rank` in the vector that a collective scatters or gathers.
using Blocks = Part (*)(const CollectiveArguments&, int rank);

/// The parts that reduce_scatter leaves at the ranks; those of reduce_scatter_block are block_of.
inline Part scattered_part(const CollectiveArguments& args, int rank) { return part_of(args.count, args.ranks, rank); }

constexpr Region region(Buffer buffer, const Part& block) { return {buffer, block.first, block.count}; }

/// All from block `first` to block `last`, both included.
constexpr Region region(Buffer buffer, const Part& first, const Part& last) {
    return {buffer, first.first, last.first + last.count - first.first};
}

}  // namespace timpani
