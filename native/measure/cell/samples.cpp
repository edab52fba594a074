#include "measure/cell/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "json/json.hpp"

namespace timpani {

namespace {

constexpr std::size_t kMinSamples = 6;  // with fewer values no pair of order statistics covers the median with 95 %
constexpr std::size_t kMaxLags = 250;   // a quarter of the longest series whose precision is tested

}  // namespace

std::int64_t median_of(std::vector<std::int64_t> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

double effective_size(std::span<const std::int64_t> sample, std::int64_t median) {
    const auto n = static_cast<double>(sample.size());
    std::vector<double> sign(sample.size());
    double mean = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        sign[i] = sample[i] <= median ? 1 : 0;
        mean += sign[i] / n;
    }
    const double variance = mean * (1 - mean);
    if (variance <= 0) return n;
    double sum = 0;
    for (std::size_t lag = 1; lag <= std::min(kMaxLags, sample.size() / 4); ++lag) {
        double covariance = 0;
        for (std::size_t i = lag; i < sample.size(); ++i) covariance += (sign[i] - mean) * (sign[i - lag] - mean);
        const double correlation = covariance / n / variance;
        if (correlation < 2 / std::sqrt(n)) break;
        sum += correlation;
    }
    return std::max(1.0, n / (1 + 2 * sum));
}

MedianInterval median_interval(std::span<const std::int64_t> sample) {
    if (sample.empty()) return {.low = 0, .high = 0, .effective_size = 0};
    std::vector<std::int64_t> sorted(sample.begin(), sample.end());
    std::ranges::sort(sorted);
    const auto n = static_cast<double>(sorted.size());
    const double effective = effective_size(sample, sorted[sorted.size() / 2]);
    const double spread = kZ95 * n * 0.5 / std::sqrt(effective);
    const auto low = std::max(1.0, std::floor(n / 2 - spread));
    const auto high = std::min(n, std::ceil(n / 2 + spread) + 1);
    return {.low = sorted[static_cast<std::size_t>(low) - 1],
            .high = sorted[static_cast<std::size_t>(high) - 1],
            .effective_size = effective};
}

double relative_half_width(std::span<const std::int64_t> sample) {
    if (sample.size() < kMinSamples) return std::numeric_limits<double>::infinity();
    const MedianInterval interval = median_interval(sample);
    const auto width = interval.high - interval.low;
    if (width == 0) return 0;  // also if the median is zero: the interval has no width
    const auto median = median_of({sample.begin(), sample.end()});
    return median > 0 ? static_cast<double>(width) / (2 * static_cast<double>(median))
                      : std::numeric_limits<double>::infinity();
}

int Samples::take(const Block& block, int settling_calls) {
    int bad = 0;
    int call = 0;
    bursts.push_back(0);
    for (const auto& repetition : block.repetitions) {
        if (!repetition.valid) ++bad;
        const bool settles = call++ < settling_calls;
        if (settles) settling.push_back(repetition.completion);
        if (settles || !repetition.valid) continue;
        ++bursts.back();
        valid.repetitions.push_back(repetition);
    }
    valid.rank_sums_ns.resize(block.rank_sums_ns.size());
    std::ranges::transform(valid.rank_sums_ns, block.rank_sums_ns, valid.rank_sums_ns.begin(), std::plus{});
    invalid += bad;
    return bad;
}

double Samples::midmean_of_burst() const {
    const auto all = valid.times(&Repetition::completion);
    std::vector<std::int64_t> burst(all.end() - bursts.back(), all.end());
    if (burst.empty()) return 0;
    std::ranges::sort(burst);
    const auto quarter = std::ssize(burst) / 4;
    const auto middle = std::span(burst).subspan(static_cast<std::size_t>(quarter),
                                                 burst.size() - 2 * static_cast<std::size_t>(quarter));
    return static_cast<double>(std::accumulate(middle.begin(), middle.end(), std::int64_t{0})) /
           static_cast<double>(middle.size());
}

std::string describe(const Samples& samples, const Circumstances& circumstances) {
    std::vector<std::int64_t> means;
    const auto number = std::max<std::int64_t>(1, std::ssize(samples.valid.repetitions));
    for (const auto sum : samples.valid.rank_sums_ns) means.push_back(sum / number);
    JsonObject record;
    record.add("start", circumstances.start)
        .add("stopped_by", circumstances.stopped_by)
        .add("converged", circumstances.converged)
        .add("warmup", circumstances.warmup)
        .add("invalid", samples.invalid);
    if (circumstances.messages_per_sample > 1) record.add("messages_per_sample", circumstances.messages_per_sample);
    if (circumstances.lateness != nullptr && circumstances.lateness->injected()) {
        record.add("lateness_ns", circumstances.lateness->mean_ns())
            .add("largest_lateness_ns", circumstances.lateness->largest_ns())
            .add("lateness_error_ns", median_of(samples.valid.times(&Repetition::lateness_error)));
    }
    const auto completions = samples.valid.times(&Repetition::completion);
    const MedianInterval interval = median_interval(completions);
    const std::array bounds{interval.low, interval.high};
    record.add("effective_size", interval.effective_size).add("median_interval_ns", bounds);
    return record.add("rank_mean_ns", means)
        .add("bursts", samples.bursts)
        .add("settling_ns", samples.settling)
        .add("completion_ns", completions)
        .add("latency_ns", samples.valid.times(&Repetition::latency))
        .add("average_ns", samples.valid.times(&Repetition::average))
        .add("skew_ns", samples.valid.times(&Repetition::skew))
        .text();
}

}  // namespace timpani
