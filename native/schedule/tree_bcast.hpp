#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

/// Round k of a broadcast down `tree`, pipelined in segments: a rank at depth d sends segment k − d to its children
/// while it receives the next one.
template <class Tree>
void tree_bcast_round(const Tree& tree, const Segments& segments, const CollectiveArguments& args, int rank,
                      std::int64_t k, Steps& steps) {
    const int me = relative_rank(args, rank);
    const auto segment = [&](std::int64_t index) { return segments.region(data_of(args, rank), index); };
    const std::int64_t outgoing = k - tree.depth(me);
    if (me > 0 && outgoing + 1 >= 0 && outgoing + 1 < segments.number()) {
        steps.receive(absolute_rank(args, tree.parent(me)), segment(outgoing + 1));
    }
    if (outgoing < 0 || outgoing >= segments.number()) return;
    for (int i = 0, child = 0; (child = tree.child(me, i)) >= 0; ++i) {
        steps.send(absolute_rank(args, child), segment(outgoing));
    }
}

/// The rounds of that broadcast: the tree's height + the number of segments − 1.
template <class Tree>
std::int64_t tree_bcast_rounds(const Tree& tree, const Segments& segments) {
    return tree.ranks == 1 ? 0 : tree.height() + segments.number() - 1;
}

}  // namespace timpani
