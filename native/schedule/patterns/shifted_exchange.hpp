#pragma once

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

/// Round k of an all-to-all in cyclic shifts: each rank sends to the rank k further round the ring and receives from
/// the rank k before it; in round 0 it copies its own block. No two messages share memory, so that rounds overlap but
/// for the algorithm's bound on messages under way.
inline void shifted_exchange(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const int to = static_cast<int>((rank + k) % p);
    const int from = static_cast<int>((rank - k + p) % p);
    const auto outgoing = pair_block_of(args, rank, to);
    const auto incoming = pair_block_of(args, from, rank);
    const Region source{Buffer::send, outgoing.at_sender, outgoing.count};
    const Region target{Buffer::receive, incoming.at_receiver, incoming.count};
    if (k == 0) {
        steps.copy(source, target);
        return;
    }
    steps.receive(from, target);
    steps.send(to, source);
}

}  // namespace timpani
