#pragma once

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

// Blocks of a buffer, and ranges of consecutive ones, as regions.

/// The block of `rank` in the vector that a collective scatters or gathers.
using Blocks = Part (*)(const CollectiveArguments&, int rank);

/// The part that reduce_scatter leaves at each rank; for reduce_scatter_block see block_of.
inline Part scattered_part(const CollectiveArguments& args, int rank) { return part_of(args.count, args.ranks, rank); }

constexpr Region region(Buffer buffer, const Part& block) { return {buffer, block.first, block.count}; }

/// A part of a region.
constexpr Region region(const Region& whole, const Part& part) {
    return {whole.buffer, whole.first + part.first, part.count};
}

/// All blocks from `first` to `last`, both included.
constexpr Region region(Buffer buffer, const Part& first, const Part& last) {
    return {buffer, first.first, last.first + last.count - first.first};
}

}  // namespace timpani
