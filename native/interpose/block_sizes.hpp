#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interpose/communicator.hpp"

namespace timpani {

/// The sizes of the blocks of a v-collective's call, as far as this rank knows them.
struct BlockSizes {
    int error = 0;                        // MPI's
    bool valid = true;                    // false: some rank's arguments are invalid
    std::vector<std::int64_t> counts{};   // bytes, as CollectiveArguments has them
    std::optional<int> known_rank{};      // likewise
    std::int64_t message_bytes = 0;       // what rules compare: the mean block, in alltoallv that of the busiest rank
    std::int64_t max_bytes_per_rank = 0;  // bytes that one rank sends or receives in all
};

/// Exchanges the sizes of a v-collective's blocks, of which each rank knows only some. Collective but for allgatherv,
/// where every rank is told all. In an alltoallv of algorithms that send each block straight to its rank, only this
/// rank's own blocks are known: no other size is needed. With `arguments_valid` false, this rank's arguments are
/// invalid; it takes part all the same, since the others wait for it.
BlockSizes exchange_block_sizes(const InterceptedCall& call, const Communicator& communicator, bool arguments_valid);

}  // namespace timpani
