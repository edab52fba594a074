#pragma once

#include <cstdint>
#include <vector>

#include "measure/cell/timed_block.hpp"

namespace timpani {

/// When one rank began and ended one repetition, on its own clock, and whether it came late to the deadline.
struct RankTiming {
    std::int64_t start;
    std::int64_t end;
    std::int64_t late;
};

/// Collective. Brings the ranks' timings to rank 0, on the common clock.
Block collect(const Harness& harness, const Operation& operation, std::vector<RankTiming>& own, int settling = 0);

}  // namespace timpani
