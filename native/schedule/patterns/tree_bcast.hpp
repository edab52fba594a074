#pragma once

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

/// A broadcast down `tree`, pipelined in segments. In round k a rank at depth d sends segment k − d to its children
/// while it receives the next segment.
template <class Tree>
class TreeBcast {
  public:
    TreeBcast(const Tree& tree, const Segments& segments, const CollectiveArguments& args)
        : tree_(tree), segments_(segments), args_(args) {}

    [[nodiscard]] std::int64_t rounds() const { return tree_.ranks == 1 ? 0 : tree_.height() + segments_.number() - 1; }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const int me = relative_rank(args_, rank);
        const auto segment = [&](std::int64_t index) { return segments_.region(data_of(args_, rank), index); };
        const std::int64_t outgoing = k - tree_.depth(me);
        if (me > 0 && segments_.has(outgoing + 1)) {
            steps.receive(absolute_rank(args_, tree_.parent(me)), segment(outgoing + 1));
        }
        if (!segments_.has(outgoing)) return;
        for (int i = 0, child = 0; (child = tree_.child(me, i)) >= 0; ++i) {
            steps.send(absolute_rank(args_, child), segment(outgoing));
        }
    }

    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const {
        const std::int64_t depth = tree_.depth(relative_rank(args_, rank));
        return k < depth + segments_.number() ? std::max(k, depth - 1) : rounds();
    }

  private:
    Tree tree_;
    Segments segments_;
    const CollectiveArguments& args_;
};

}  // namespace timpani
