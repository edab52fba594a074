#pragma once

#include <string>

#include "measure/cell/protocol.hpp"
#include "measure/cell/timed_block.hpp"

namespace timpani {

/// Collective. Measures one cell as OSU's benchmark of the operation does, with a fixed number of calls: OSU's or the
/// plan's. All point-to-point calls are timed together as one sample. At rank 0 returns the cell's record as a JSON
/// object.
std::string measure_as_osu(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
                           const CellPlan& cell);

}  // namespace timpani
