#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interpose/communicator.hpp"

namespace timpani {

/// What the ranks of a v-collective's call have told each other.
struct BlockSizes {
    int error = 0;                       // MPI's
    bool agreed = true;                  // false: the arguments of some rank can't be right
    std::vector<std::int64_t> counts{};  // bytes, as Shape has them
    std::optional<int> known_rank{};     // likewise
    std::int64_t message_bytes = 0;      // what rules compare: the mean block, in alltoallv that of the busiest rank
    std::int64_t most_at_a_rank = 0;     // bytes that one rank sends or receives in all
};

/// Agrees on the sizes of a v-collective's blocks, which each rank knows only in part. Collective but for allgatherv,
/// where every rank is told all. In an alltoallv of algorithms that send each block straight to its rank, only this
/// rank's own blocks are known: no other is asked for. `arguments_hold`: whether this rank's can be right; where
/// not, it takes part all the same, since the others wait for it.
BlockSizes agree_on_blocks(const Call& call, const Communicator& communicator, bool arguments_hold);

}  // namespace timpani
