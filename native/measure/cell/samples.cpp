#include "measure/cell/samples.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "json/json.hpp"
#include "measure/cell/stop_rule.hpp"

namespace timpani {

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
        completion.push_back(repetition.completion);
        latency.push_back(repetition.latency);
        average.push_back(repetition.average);
        skew.push_back(repetition.skew);
        lateness_error.push_back(repetition.lateness_error);
    }
    rank_sums.resize(block.rank_sums_ns.size());
    for (std::size_t rank = 0; rank < rank_sums.size(); ++rank) rank_sums[rank] += block.rank_sums_ns[rank];
    summed += bursts.back();
    invalid += bad;
    return bad;
}

double Samples::midmean_of_burst() const {
    std::vector<std::int64_t> burst(completion.end() - bursts.back(), completion.end());
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
    for (const auto sum : samples.rank_sums) means.push_back(sum / std::max<std::int64_t>(1, samples.summed));
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
            .add("lateness_error_ns", median_of(samples.lateness_error));
    }
    const MedianInterval interval = median_interval(samples.completion);
    const std::array bounds{interval.low, interval.high};
    record.add("effective_size", interval.effective_size).add("median_interval_ns", bounds);
    return record.add("rank_mean_ns", means)
        .add("bursts", samples.bursts)
        .add("settling_ns", samples.settling)
        .add("completion_ns", samples.completion)
        .add("latency_ns", samples.latency)
        .add("average_ns", samples.average)
        .add("skew_ns", samples.skew)
        .text();
}

}  // namespace timpani
