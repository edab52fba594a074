#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/timed_block.hpp"

namespace timpani {

/// Raw samples of a cell as they grow, at rank 0.
struct Samples {
    std::vector<std::int64_t> completion;
    std::vector<std::int64_t> latency;
    std::vector<std::int64_t> average;
    std::vector<std::int64_t> skew;
    std::vector<std::int64_t> rank_sums;
    int invalid = 0;

    /// Adds the valid ones; returns how many were invalid.
    int take(const Block& block);
};

/// What a cell's record says of how its samples came about.
struct Circumstances {
    int warmup;
    std::string_view start;
    std::string_view stopped_by;
    bool converged;  // the median's interval is as narrow as was asked, or a fixed number of repetitions was
    std::int64_t messages_per_sample;
};

/// The record of a cell as a JSON object.
std::string describe(const Samples& samples, const Circumstances& circumstances);

}  // namespace timpani
