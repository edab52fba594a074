#pragma once

#include <cstdint>

#include "measure/files/plan.hpp"

namespace timpani {

/// How the cells of a launch are measured.
struct Protocol {
    const Plan& plan;
    std::int64_t broadcast_ns;  // time of the harness's broadcast, the unit of Round-Time's slack
    std::int64_t timer_ns;      // time to read the clock
};

}  // namespace timpani
