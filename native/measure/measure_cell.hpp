#pragma once

#include <string>

#include "measure/protocol.hpp"
#include "measure/timed_block.hpp"

namespace timpani {

/// Collective. What the harness's broadcast takes until the last rank has it, median of several, nanoseconds.
std::int64_t broadcast_cost_ns(const Harness& harness);

/// Collective. Measures one cell; at rank 0 its record as a JSON object.
std::string measure_cell(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
                         const CellPlan& cell);

}  // namespace timpani
