#pragma once

#include "schedule/step.hpp"

namespace timpani {

// The messages of a direct reduce-scatter and of a direct allgather among `size` ranks. Each of the first `owners`
// ranks owns a part of the vector. `me` is the local rank, and `rank_of` maps local ranks to ranks. In step i a rank
// exchanges with the peer at distance i, so no two ranks send to the same rank at once.

/// Sends each owner its part, `part(owner)`. An owner receives its part from each rank at `contribution(rank)`, and the
/// caller reduces these.
template <typename RankOf, typename PartOf, typename Contribution>
void direct_reduce_scatter(int me, int size, int owners, const RankOf& rank_of, const PartOf& part,
                           const Contribution& contribution, Steps& steps) {
    for (int i = 1; i < size; ++i) {
        const int to = (me + i) % size;
        const int from = (me - i + size) % size;
        if (me < owners) steps.receive(rank_of(from), contribution(from));
        if (to < owners) steps.send(rank_of(to), part(to));
    }
}

/// An owner sends its part to all other ranks, and all ranks receive the others' parts.
template <typename RankOf, typename PartOf>
void direct_allgather(int me, int size, int owners, const RankOf& rank_of, const PartOf& part, Steps& steps) {
    for (int i = 1; i < size; ++i) {
        const int to = (me + i) % size;
        const int from = (me - i + size) % size;
        if (from < owners) steps.receive(rank_of(from), part(from));
        if (me < owners) steps.send(rank_of(to), part(me));
    }
}

}  // namespace timpani
