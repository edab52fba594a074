#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace timpani
