#pragma once

#include <algorithm>

#include "schedule/arithmetic.hpp"
#include "schedule/patterns/rank_order.hpp"
#include "schedule/patterns/tree.hpp"

namespace timpani {

/// A reduction to rank `root` along a k-nomial tree over the ranks counted from the root. Subtrees are consecutive
/// ranks, and a rank receives from its children in the order of their subtrees. So results are reduced in rank order,
/// counted from the root.
class KnomialReduction {
  public:
    KnomialReduction(const CollectiveArguments& args, std::int64_t radix, int root)
        : args_(args), radix_(radix), root_(root) {}

    [[nodiscard]] std::int64_t rounds() const { return KnomialTree{args_.ranks, radix_}.rounds(); }

    /// What `rank` does in round k ≤ rounds(). In the last round the root only reduces what it received last. A rank
    /// with children ends with the reduction over its subtree in `result`; it needs scratch from `scratch_begin` on.
    void round(int rank, std::int64_t k, const Region& result, std::int64_t scratch_begin, Steps& steps) const {
        const int me = relative(rank);
        const Region own{Buffer::send, 0, args_.count};
        const OrderedReduction values{children(rank), result, scratch_begin};
        if (k < values.number) steps.receive(absolute(child(me, k)), values.buffer(k));
        if (k == 1 && k <= values.number) steps.reduce(own, values.buffer(0));
        if (k > 1 && k <= values.number) values.combine(k - 1, steps);
        if (me > 0 && k == round_sent(me)) steps.send(absolute(parent(me)), values.number == 0 ? own : result);
    }

    /// Number of ranks that send to `rank`. It needs the same number of buffers, but at most three.
    [[nodiscard]] std::int64_t children(int rank) const {
        const int me = relative(rank);
        std::int64_t number = 0;
        while (child(me, number) >= 0) ++number;
        return number;
    }

  private:
    /// The child that sends to `me` in a round, −1: no child. A rank's children send in rounds 0, 1, 2….
    [[nodiscard]] int child(int me, std::int64_t round) const {
        const std::int64_t value = power(radix_, static_cast<int>(round / (radix_ - 1)));
        const std::int64_t child = me + (1 + round % (radix_ - 1)) * value;
        return me % (value * radix_) == 0 && child < args_.ranks ? static_cast<int>(child) : -1;
    }
    [[nodiscard]] int parent(int me) const { return KnomialTree{args_.ranks, radix_}.parent(me); }
    /// The round in which `me` sends to its parent.
    [[nodiscard]] std::int64_t round_sent(int me) const {
        std::int64_t round = 0;
        while (child(parent(me), round) != me) ++round;
        return round;
    }
    [[nodiscard]] int relative(int rank) const { return (rank - root_ + args_.ranks) % args_.ranks; }
    [[nodiscard]] int absolute(int me) const { return (me + root_) % args_.ranks; }

    const CollectiveArguments& args_;
    std::int64_t radix_;
    int root_;
};

}  // namespace timpani
