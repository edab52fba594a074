#pragma once

#include <cstdint>
#include <vector>

#include "measure/cell/harness.hpp"
#include "measure/clock/lateness.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// When one rank began and ended one repetition, on its own clock, and whether it came late to the deadline.
struct RankTiming {
    std::int64_t start;
    std::int64_t end;
    std::int64_t late;
};

/// One repetition as the operation's timed ranks saw it, nanoseconds; only rank 0 has it.
struct Repetition {
    std::int64_t completion;  // max end − min start, on the common clock; with injected lateness max end − max start
    std::int64_t latency;     // max over ranks of end − start
    std::int64_t average;     // mean over ranks of end − start, as OSU's benchmarks print it
    std::int64_t skew;        // max start − min start
    std::int64_t root_ahead;  // max end − rank 0's end: how long others were busy after the root was done
    bool valid;               // no rank that takes part came late to the deadline
    std::int64_t lateness_error;  // how far a rank's lateness was from the injected one, of the worst rank; 0 without
};

/// Repetitions, and each timed rank's sum of end − start over the valid ones that don't settle; both empty but at rank
/// 0.
struct Block {
    std::vector<Repetition> repetitions;
    std::vector<std::int64_t> rank_sums_ns;
};

/// The lateness that was injected into a block's repetitions, and the number of the first; no lateness: together.
struct Arrivals {
    const Lateness* lateness = nullptr;
    std::int64_t first = 0;
};

/// Collective. Brings the ranks' timings to rank 0, on the common clock.
Block collect(const Harness& harness, const Operation& operation, std::vector<RankTiming>& own, int settling = 0,
              const Arrivals& arrivals = {});

}  // namespace timpani
