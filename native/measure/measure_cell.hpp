#pragma once

#include <optional>
#include <string>

#include "measure/plan.hpp"
#include "measure/timed_block.hpp"

namespace timpani {

/// How the cells of a launch are measured.
struct Protocol {
    Method method;
    Start start;
    double precision;
    std::int64_t slot_ns;
    std::int64_t broadcast_ns;  // what the harness's own broadcast takes, the unit of Round-Time's slack
    std::optional<int> warmup;
    std::optional<int> repetitions;
};

/// Collective. What the harness's broadcast takes until the last rank has it, median of several, nanoseconds.
std::int64_t broadcast_cost_ns(const Harness& harness);

/// Collective. Calls the operation once on poisoned buffers and looks at every element. What is wrong on the first
/// rank that found a mistake, or nothing; the same answer on every rank.
std::optional<std::string> check_result(const Harness& harness, const Operation& operation, Buffers& buffers);

/// Collective. Measures one cell; at rank 0 the fields of its record as the inside of a JSON object.
std::string measure_cell(const Harness& harness, const Operation& operation, Buffers& buffers, const Protocol& protocol,
                         const CellPlan& cell);

}  // namespace timpani
