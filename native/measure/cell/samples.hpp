#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/cell/timed_block.hpp"

namespace timpani {

constexpr double kZ95 = 1.959964;  // two-sided 95 % of the normal distribution

/// Effective sample size for the median: n / (1 + 2Σρ). ρ is the autocorrelation of the indicator 'at most the median',
/// which determines the median's error. The sum ends at the first lag at which ρ is lost in noise (ρ < 2/√n).
double effective_size(std::span<const std::int64_t> sample, std::int64_t median);

/// 95 % confidence interval of a series' median: order statistics whose distance depends on the effective sample size.
struct MedianInterval {
    std::int64_t low;
    std::int64_t high;
    double effective_size;
};

/// For a series in measured order (Hunold & Carpen-Amarie, TPDS 2016; Hoefler & Belli, SC'15). With fewer than 6
/// values: the minimum and the maximum, whose coverage is lower. Zeros for an empty series.
MedianInterval median_interval(std::span<const std::int64_t> sample);

/// Half of that interval's width over the median; infinite for fewer than 6 values.
double relative_half_width(std::span<const std::int64_t> sample);

/// Median of a copy.
std::int64_t median_of(std::vector<std::int64_t> values);

/// Raw samples of a cell as they grow, at rank 0.
struct Samples {
    Block valid;                       // the valid repetitions after settling
    std::vector<std::int64_t> bursts;  // number of these samples from each burst, in order
    /// Completions of a burst's first calls, which find another competitor's data in the caches.
    std::vector<std::int64_t> settling;
    int invalid = 0;

    /// Adds the valid samples of a burst, and its first `settling_calls` separately. Returns how many are invalid.
    int take(const Block& block, int settling_calls = 0);

    /// Mean completion of the newest burst without its fastest and slowest quarters, in nanoseconds: robust like a
    /// median, but finer than the clock's ticks. 0 if no sample is valid.
    [[nodiscard]] double midmean_of_burst() const;
};

/// How a cell's samples were measured, for its record.
struct Circumstances {
    int warmup;
    std::string_view start;
    std::string_view stopped_by;
    bool converged;  // the median's interval reached the requested precision, or a fixed number of repetitions was set
    std::int64_t messages_per_sample;
    const InjectedLateness* lateness = nullptr;  // that was injected
};

/// The record of a cell as a JSON object.
std::string describe(const Samples& samples, const Circumstances& circumstances);

}  // namespace timpani
