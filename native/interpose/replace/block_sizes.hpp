#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interpose/communicator/communicator.hpp"

namespace timpani {

/// The amount of data in a call, and the sizes of a v-collective's blocks as far as this rank knows them.
struct BlockSizes {
    int error = 0;                       // MPI's
    bool valid = true;                   // false: some rank's arguments are invalid
    std::vector<std::int64_t> counts{};  // bytes, as CollectiveArguments has them
    std::optional<int> known_rank{};     // likewise
    std::int64_t message_bytes = 0;      // as in rules: the mean block, in alltoallv that of the busiest rank
    std::int64_t max_block_bytes = 0;    // the largest block or vector of any rank
};

/// The sizes of a call whose sizes every rank knows: all calls except those whose sizes are exchanged.
BlockSizes known_block_sizes(const InterceptedCall& call, RankInComm here);

/// Exchanges the sizes of a v-collective's blocks, since each rank knows only some. Collective, on the program's
/// communicator, since all of its ranks are in this call. If the algorithms of an alltoallv send each block directly to
/// its rank, only this rank's own blocks are known: no other size is needed. With `arguments_valid` false, this rank's
/// arguments are invalid, but it still calls this, since the others wait for it.
BlockSizes exchange_block_sizes(const InterceptedCall& call, const Communicator& communicator, bool arguments_valid);

}  // namespace timpani
