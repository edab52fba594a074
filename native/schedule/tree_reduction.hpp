#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

/// A reduction up `tree`, segment by segment, to rank `top`, which passes the result on to the root where that is
/// another. Children's subtrees are runs of ranks, in order; they follow their parent's rank counted from the top, or
/// with `downwards` precede it, ranks being counted down from the top.
///
/// A rank at depth d hands segment s up in round s + height − d, having put together what came for it the round before;
/// while it does, the next segment comes in. Each child has a place of its own, so that all may send at once.
template <class Tree>
class TreeReduction {
  public:
    TreeReduction(const Tree& tree, const Segments& segments, const Shape& shape, int top, bool downwards = false)
        : tree_(tree), segments_(segments), shape_(shape), top_(top), downwards_(downwards) {}

    [[nodiscard]] std::int64_t rounds() const { return tree_.height() + segments_.number(); }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const int me = relative(rank);
        const int number = children(me);
        const std::int64_t due = k - (tree_.height() - tree_.depth(me));
        if (in_range(due + 1)) {
            for (int i = 0; i < number; ++i) steps.receive(absolute(tree_.child(me, i)), place(rank, i, due + 1));
        }
        if (in_range(due)) {
            const Region all = combine(rank, number, due, steps);
            if (me > 0) steps.send(absolute(tree_.parent(me)), all);
            if (me == 0 && rank != shape_.root) steps.send(shape_.root, all);
            if (me == 0 && rank == shape_.root && number == 0) steps.copy(all, segments_.region(Buffer::receive, due));
        }
        const std::int64_t passed_on = k - tree_.height();
        if (rank == shape_.root && rank != top_ && in_range(passed_on)) {
            steps.receive(top_, segments_.region(Buffer::receive, passed_on));
        }
    }

    [[nodiscard]] std::int64_t scratch(int rank) const {
        const int number = children(relative(rank));
        return number == 0 ? 0 : (number + (downwards_ ? 1 : 0)) * shape_.count;
    }

  private:
    /// Own and children's contributions to a segment, in order of ranks; where they end up.
    Region combine(int rank, int number, std::int64_t segment, Steps& steps) const {
        const Region own = segments_.region(Buffer::send, segment);
        if (number == 0) return own;
        if (downwards_) {
            const Region all = place(rank, number, segment);
            steps.copy(own, all);
            for (int i = 0; i < number; ++i) steps.reduce(place(rank, i, segment), all);
            return all;
        }
        for (int i = 0; i < number; ++i) {
            steps.reduce(i == 0 ? own : place(rank, i - 1, segment), place(rank, i, segment));
        }
        return place(rank, number - 1, segment);
    }

    /// Where the segment of child `index` goes; the place in which all is put together is the result at the root.
    [[nodiscard]] Region place(int rank, int index, std::int64_t segment) const {
        const bool last = index == children(relative(rank)) - (downwards_ ? 0 : 1);
        if (last && rank == top_ && rank == shape_.root) return segments_.region(Buffer::receive, segment);
        Region region = segments_.region(Buffer::scratch, segment);
        region.first += index * shape_.count;
        return region;
    }
    [[nodiscard]] int children(int me) const {
        int number = 0;
        while (tree_.child(me, number) >= 0) ++number;
        return number;
    }
    [[nodiscard]] bool in_range(std::int64_t segment) const { return segment >= 0 && segment < segments_.number(); }
    [[nodiscard]] int relative(int rank) const {
        return ((downwards_ ? top_ - rank : rank - top_) + shape_.ranks) % shape_.ranks;
    }
    [[nodiscard]] int absolute(int me) const {
        return ((downwards_ ? top_ - me : top_ + me) + shape_.ranks) % shape_.ranks;
    }

    Tree tree_;
    Segments segments_;
    const Shape& shape_;
    int top_;
    bool downwards_;
};

}  // namespace timpani
