#pragma once

#include <cstdint>
#include <vector>

#include "measure/cell/harness.hpp"
#include "measure/clock/lateness.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// When one rank started and ended one repetition, on its own clock, and whether it missed the deadline.
struct RankTiming {
    std::int64_t start;
    std::int64_t end;
    std::int64_t late;
};

/// Times of one repetition over the operation's timed ranks, in nanoseconds. Only rank 0 has them.
struct Repetition {
    std::int64_t completion;  // max end − min start, on the common clock; with injected lateness max end − max start
    std::int64_t latency;     // Max over ranks of end − start.
    std::int64_t average;     // Mean over ranks of end − start, as OSU's benchmarks print it.
    std::int64_t skew;        // Max start − min start.
    std::int64_t root_ahead;  // Max end − rank 0's end: time for which other ranks are busy after the root has finished
    bool valid;               // no timed rank or partner missed the deadline
    std::int64_t lateness_error;  // largest error of a rank's injected lateness; 0 without lateness
};

/// Repetitions, and for each timed rank the sum of end − start over the valid ones after settling. Both are empty at
/// ranks other than 0.
struct Block {
    std::vector<Repetition> repetitions;
    std::vector<std::int64_t> rank_sums_ns;

    /// One of the times of each repetition.
    [[nodiscard]] std::vector<std::int64_t> times(std::int64_t Repetition::* time) const;
};

/// The lateness that is injected into a block's repetitions, and the number of its first repetition. A null `lateness`
/// means that ranks enter together.
struct Arrivals {
    const InjectedLateness* lateness = nullptr;
    std::int64_t first = 0;
};

/// Collective. Gathers the ranks' timings at rank 0, on the common clock.
Block collect(const Harness& harness, const Operation& operation, std::vector<RankTiming>& own, int settling = 0,
              const Arrivals& arrivals = {});

}  // namespace timpani
