#pragma once

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

/// All-to-all by shifts: in round k each rank sends to the one k further round the ring and receives from the one k
/// before; in round 0 it copies its own block. No two messages share a region, so that only the algorithm's bound on
/// requests keeps rounds apart.
inline void shifted_exchange(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const int p = shape.ranks;
    const int to = static_cast<int>((rank + k) % p);
    const int from = static_cast<int>((rank - k + p) % p);
    const auto outgoing = pair_block_of(shape, rank, to);
    const auto incoming = pair_block_of(shape, from, rank);
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
