#pragma once

#include "schedule/step.hpp"

namespace timpani {

// The messages of a direct reduce-scatter and of a direct allgather among `size` ranks, of which the first `owners` own
// a part of the vector each. `me` is the local rank, and `rank_of` gives the rank of a local one. Peers are met in
// turn, those at distance i in step i, so that no two ranks send to the same one at once.

/// Sends each owner its part, `part(owner)`; an owner receives its part from each rank at `contribution(rank)`, for the
/// caller to reduce.
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

/// An owner sends its part to all others; all receive the parts of the others.
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
