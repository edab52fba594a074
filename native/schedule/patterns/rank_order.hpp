#pragma once

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

/// Replaces `mine` by the reduction of both, in rank order: theirs ∘ mine if theirs comes from lower ranks, else mine ∘
/// theirs. The latter needs a copy, since a reduction overwrites its right operand; a commutative operator avoids it.
inline void reduce_in_order(const CollectiveArguments& args, const Region& theirs, const Region& mine,
                            bool theirs_first, Steps& steps) {
    if (theirs_first || args.commutative) {
        steps.reduce(theirs, mine);
    } else {
        steps.reduce(mine, theirs);
        steps.copy(theirs, mine);
    }
}

/// The root of a reduction tree that keeps rank order, counted from its root: the collective's root if the operator
/// commutes, else rank 0, which must then send the result to the collective's root.
constexpr int reduction_root(const CollectiveArguments& args) { return args.commutative ? args.root : 0; }
constexpr bool forwards_to_root(const CollectiveArguments& args) { return reduction_root(args) != args.root; }

/// Reduces `number` values in the order of the ranks that they come from, so any operator is allowed. A rank receives
/// one value after another. It combines each value with the earlier ones while it receives the next. It alternates
/// between three buffers: the result's, which receives the last value and finally holds the result, and two in scratch
/// from element `scratch_begin` on.
struct OrderedReduction {
    std::int64_t number;
    Region result;
    std::int64_t scratch_begin;

    /// Where value `index` is received.
    [[nodiscard]] Region buffer(std::int64_t index) const {
        const std::int64_t turn = (number - 1 - index) % 3;
        if (turn == 0) return result;
        return {Buffer::scratch, scratch_begin + (turn - 1) * result.count, result.count};
    }
    /// Combines value `index` with those before it, in the buffer of that value.
    void combine(std::int64_t index, Steps& steps) const { steps.reduce(buffer(index - 1), buffer(index)); }
};

}  // namespace timpani
