#pragma once

#include <string>

#include "measure/cell/protocol.hpp"
#include "measure/cell/timed_block.hpp"

namespace timpani {

/// Collective. Measures one cell as OSU's benchmark of the operation does: fixed numbers of calls, OSU's or the plan's.
/// Point-to-point calls are all timed as one sample. At rank 0 the cell's record as a JSON object.
std::string measure_as_osu(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
                           const CellPlan& cell);

}  // namespace timpani
