#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace timpani {

constexpr double kZ95 = 1.959964;  // two-sided 95 % of the normal distribution

/// Sample size that counts for the median: n / (1 + 2Σρ), with ρ the autocorrelation of 'at most the median', since
/// that is what the median's error depends on; summed up to the first lag where it is lost in noise (ρ < 2/√n).
double effective_size(std::span<const std::int64_t> sample, std::int64_t median);

/// What bounds the median of a series with 95 %: order statistics, as far apart as its effective size demands.
struct MedianInterval {
    std::int64_t low;
    std::int64_t high;
    double effective_size;
};

/// Of a series in the order in which it was measured (Hunold & Carpen-Amarie, TPDS 2016; Hoefler & Belli, SC'15); below
/// 6 values the smallest and the largest, which cover less; zeros where there is none.
MedianInterval median_interval(std::span<const std::int64_t> sample);

/// Half of that interval over the median; infinite below 6 values.
double relative_half_width(std::span<const std::int64_t> sample);

/// Median of a copy.
std::int64_t median_of(std::vector<std::int64_t> values);

}  // namespace timpani
