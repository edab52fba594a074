#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace timpani {

/// Sample size that counts for the median: n / (1 + 2Σρ), with ρ the autocorrelation of 'at most the median', since
/// that is what the median's error depends on; summed up to the first lag where it is lost in noise (ρ < 2/√n).
double effective_size(std::span<const std::int64_t> sample, std::int64_t median);

/// Half of the 95 % interval of the median over the median, from order statistics (Hunold & Carpen-Amarie, TPDS 2016;
/// Hoefler & Belli, SC'15); infinite below 6 values.
double relative_half_width(std::span<const std::int64_t> sample);

/// Median of a copy.
std::int64_t median_of(std::vector<std::int64_t> values);

}  // namespace timpani
