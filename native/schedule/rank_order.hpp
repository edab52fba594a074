#pragma once

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

/// Makes `mine` the reduction of both: theirs ∘ mine where theirs comes from lower ranks, mine ∘ theirs from higher
/// ones if the operator does not commute; that costs a copy, since a reduction overwrites its right operand.
inline void reduce_in_order(const Shape& shape, const Region& theirs, const Region& mine, bool theirs_first,
                            Steps& steps) {
    if (theirs_first || shape.commutative) {
        steps.reduce(theirs, mine);
    } else {
        steps.reduce(mine, theirs);
        steps.copy(theirs, mine);
    }
}

/// Where a tree that keeps the order of ranks only from rank 0 on ends: there, if order matters, and else at the root;
/// and whether the result must then be passed on to the root.
constexpr int reduction_root(const Shape& shape) { return shape.commutative ? shape.root : 0; }
constexpr bool forwards_to_root(const Shape& shape) { return reduction_root(shape) != shape.root; }

}  // namespace timpani
