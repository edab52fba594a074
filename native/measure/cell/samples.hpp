#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/cell/timed_block.hpp"

namespace timpani {

/// Raw samples of a cell as they grow, at rank 0.
struct Samples {
    std::vector<std::int64_t> completion;
    std::vector<std::int64_t> latency;
    std::vector<std::int64_t> average;
    std::vector<std::int64_t> skew;
    std::vector<std::int64_t> lateness_error;  // as in Repetition
    std::vector<std::int64_t> rank_sums;
    std::int64_t summed = 0;             // repetitions in each of those sums
    std::vector<std::int64_t> bursts;    // how many of these samples each burst gave, in order
    std::vector<std::int64_t> settling;  // completions of a burst's first calls, which found another rival's caches
    int invalid = 0;

    /// Adds the valid ones of a burst, the first `settling` calls of it apart; returns how many were invalid.
    int take(const Block& block, int settling_calls = 0);

    /// Mean completion of the newest burst without its fastest and slowest quarters, nanoseconds: robust as a median,
    /// and finer than the clock's ticks. 0 where all of it was invalid.
    [[nodiscard]] double midmean_of_burst() const;
};

/// What a cell's record says of how its samples came about.
struct Circumstances {
    int warmup;
    std::string_view start;
    std::string_view stopped_by;
    bool converged;  // the median's interval is as narrow as was asked, or a fixed number of repetitions was
    std::int64_t messages_per_sample;
    const Lateness* lateness = nullptr;  // that was injected
};

/// The record of a cell as a JSON object.
std::string describe(const Samples& samples, const Circumstances& circumstances);

}  // namespace timpani
