#pragma once

#include <cstdint>
#include <optional>

#include "measure/files/plan.hpp"

namespace timpani {

/// How the cells of a launch are measured.
struct Protocol {
    Method method;
    Start start;
    double precision;
    std::int64_t time_limit_ns;  // of a cell
    std::int64_t broadcast_ns;   // what the harness's own broadcast takes, the unit of Round-Time's slack
    std::int64_t timer_ns;       // what reading the clock takes
    std::optional<int> warmup;
    std::optional<int> repetitions;
    std::optional<double> lose_at;  // factor
};

}  // namespace timpani
