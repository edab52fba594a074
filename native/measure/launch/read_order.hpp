#pragma once

#include <functional>
#include <string>

#include "measure/cell/buffers.hpp"
#include "measure/cell/harness.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Collective. Reads what shows the order in which a reduction adds (FPRev: Xie, Gao, Wang, Xue, USENIX ATC 2025). For
/// each pair of ranks, one contributes +M, the other −M and all others 1. M is so large that M + 1 = M: only ones that
/// are added after M and −M have met are left. Every element of a vector holds the same, so a call shows all positions.
/// All calls are made twice.
///
/// At rank 0 for each rank `{"changes":…,"runs":[[count,name],…],"remainders":{name:[…],…}}`: whether a second call
/// differed; its result as runs of `count` elements; and what was left in them for each pair (0, 1), (0, 2) … (1, 2) …,
/// −1 where it counts no ranks. `still_alive` is called after each call. Throws NotApplicable unless elements are
/// doubles that are added.
std::string read_order(const Harness& harness, Operation& operation, Buffers& buffers,
                       const std::function<void()>& still_alive);

}  // namespace timpani
