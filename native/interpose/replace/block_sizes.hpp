#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interpose/communicator/communicator.hpp"

namespace timpani {

/// How much a call moves, and the sizes of a v-collective's blocks as far as this rank knows them.
struct BlockSizes {
    int error = 0;                       // MPI's
    bool valid = true;                   // false: some rank's arguments are invalid
    std::vector<std::int64_t> counts{};  // bytes, as CollectiveArguments has them
    std::optional<int> known_rank{};     // likewise
    std::int64_t message_bytes = 0;      // what rules compare: the mean block, in alltoallv that of the busiest rank
    std::int64_t max_block_bytes = 0;    // of the largest block or vector of any rank
};

/// The sizes of a call of which every rank is told all: any but those that are exchanged.
BlockSizes known_block_sizes(const InterceptedCall& call, RankInComm here);

/// Exchanges the sizes of a v-collective's blocks, of which each rank knows only some. Collective, on the program's own
/// communicator, since all of its ranks are in this call. In an alltoallv of algorithms that send each block straight
/// to its rank, only this rank's own blocks are known: no other size is needed. With `arguments_valid` false, this
/// rank's arguments are invalid; it takes part all the same, since the others wait for it.
BlockSizes exchange_block_sizes(const InterceptedCall& call, const Communicator& communicator, bool arguments_valid);

}  // namespace timpani
