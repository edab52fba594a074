#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

/// Round k of a broadcast down `tree`, segment by segment: a rank at depth d passes segment k − d on to its children
/// while the next one comes in. Takes the tree's height + the number of segments − 1 rounds.
template <class Tree>
void tree_bcast_round(const Tree& tree, const Segments& segments, const Shape& shape, int rank, std::int64_t k,
                      Steps& steps) {
    const int me = relative_rank(shape, rank);
    const auto segment = [&](std::int64_t index) { return segments.region(data_of(shape, rank), index); };
    const std::int64_t due = k - tree.depth(me);
    if (me > 0 && due + 1 >= 0 && due + 1 < segments.number()) {
        steps.receive(absolute_rank(shape, tree.parent(me)), segment(due + 1));
    }
    if (due < 0 || due >= segments.number()) return;
    for (int i = 0, child = 0; (child = tree.child(me, i)) >= 0; ++i) {
        steps.send(absolute_rank(shape, child), segment(due));
    }
}

/// Rounds that it takes.
template <class Tree>
std::int64_t tree_bcast_rounds(const Tree& tree, const Segments& segments) {
    return tree.ranks == 1 ? 0 : tree.height() + segments.number() - 1;
}

}  // namespace timpani
