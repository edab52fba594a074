#pragma once

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

/// A reduction up `tree`, pipelined in segments, to rank `tree_root`. If the collective's root is another rank,
/// `tree_root` sends it the result. Subtrees of children are consecutive ranks. Their order follows the parent's rank,
/// with ranks counted from the tree's root; with `downwards` it precedes the parent's rank, and ranks are counted down.
///
/// A rank at depth d sends segment s to its parent in round s + height − d while it receives the next segment. It
/// reduces what it received for the segment just before. Each child's segments have a separate buffer, so all children
/// can send at once.
template <class Tree>
class TreeReduction {
  public:
    TreeReduction(const Tree& tree, const Segments& segments, const CollectiveArguments& args, int tree_root,
                  bool downwards = false)
        : tree_(tree), segments_(segments), args_(args), tree_root_(tree_root), downwards_(downwards) {}

    [[nodiscard]] std::int64_t rounds() const { return tree_.height() + segments_.number(); }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const int me = relative(rank);
        const int number = children(me);
        const std::int64_t outgoing = k - (tree_.height() - tree_.depth(me));
        if (segments_.has(outgoing + 1)) {
            for (int i = 0; i < number; ++i) {
                steps.receive(absolute(tree_.child(me, i)), buffer(rank, number, i, outgoing + 1));
            }
        }
        if (segments_.has(outgoing)) {
            const Region all = combine(rank, number, outgoing, steps);
            if (me > 0) steps.send(absolute(tree_.parent(me)), all);
            if (me == 0 && rank != args_.root) steps.send(args_.root, all);
            if (me == 0 && rank == args_.root && number == 0) {
                steps.copy(all, segments_.region(Buffer::receive, outgoing));
            }
        }
        const std::int64_t incoming = k - tree_.height();
        if (rank == args_.root && rank != tree_root_ && segments_.has(incoming)) {
            steps.receive(tree_root_, segments_.region(Buffer::receive, incoming));
        }
    }

    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const {
        const std::int64_t sent_first = tree_.height() - tree_.depth(relative(rank));
        const bool awaits_result = rank == args_.root && rank != tree_root_;
        if (k >= sent_first + segments_.number() && !awaits_result) return rounds();
        return std::max(k, sent_first - 1);
    }

    [[nodiscard]] std::int64_t scratch(int rank) const {
        const int number = children(relative(rank));
        return number == 0 ? 0 : (number + (downwards_ ? 1 : 0)) * args_.count;
    }

  private:
    /// Reduces a segment of the rank and its children in rank order; returns where the result is.
    Region combine(int rank, int number, std::int64_t segment, Steps& steps) const {
        const Region own = segments_.region(Buffer::send, segment);
        if (number == 0) return own;
        if (downwards_) {
            const Region all = buffer(rank, number, number, segment);
            steps.copy(own, all);
            for (int i = 0; i < number; ++i) steps.reduce(buffer(rank, number, i, segment), all);
            return all;
        }
        for (int i = 0; i < number; ++i) {
            steps.reduce(i == 0 ? own : buffer(rank, number, i - 1, segment), buffer(rank, number, i, segment));
        }
        return buffer(rank, number, number - 1, segment);
    }

    /// Where the segment of child `index` of `number` is received. At the root, the last buffer is the result.
    [[nodiscard]] Region buffer(int rank, int number, int index, std::int64_t segment) const {
        const bool last = index == number - (downwards_ ? 0 : 1);
        if (last && rank == tree_root_ && rank == args_.root) return segments_.region(Buffer::receive, segment);
        Region region = segments_.region(Buffer::scratch, segment);
        region.first += index * args_.count;
        return region;
    }
    [[nodiscard]] int children(int me) const {
        int number = 0;
        while (tree_.child(me, number) >= 0) ++number;
        return number;
    }
    [[nodiscard]] int relative(int rank) const {
        return ((downwards_ ? tree_root_ - rank : rank - tree_root_) + args_.ranks) % args_.ranks;
    }
    [[nodiscard]] int absolute(int me) const {
        return ((downwards_ ? tree_root_ - me : tree_root_ + me) + args_.ranks) % args_.ranks;
    }

    Tree tree_;
    Segments segments_;
    const CollectiveArguments& args_;
    int tree_root_;
    bool downwards_;
};

}  // namespace timpani
