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
    std::int64_t broadcast_ns;   // time of the harness's broadcast, the unit of Round-Time's slack
    std::int64_t timer_ns;       // time to read the clock
    std::optional<int> warmup;
    std::optional<int> repetitions;
    std::optional<double> lose_at;  // factor
};

}  // namespace timpani
