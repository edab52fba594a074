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

}  // namespace timpani
