#include "measure/cell/samples.hpp"

#include <algorithm>
#include <array>
#include <functional>
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
