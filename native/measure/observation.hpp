#pragma once

#include <cstdint>
#include <vector>

#include "measure/timed_block.hpp"

namespace timpani {

/// One repetition as one rank saw it, on its own clock.
struct Observation {
    std::int64_t start;
    std::int64_t end;
    std::int64_t late;
};

/// Collective. Brings the ranks' observations to rank 0, on the common clock.
Block collect(const Harness& harness, const Operation& operation, std::vector<Observation>& own);

}  // namespace timpani
