#include "measure/take_turns.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "measure/broadcast_from_root.hpp"
#include "measure/stop_rule.hpp"

namespace timpani {

namespace {

constexpr int kBurst = 20;                         // calls
constexpr int kSettling = 10;                      // one call in so many of a burst is left out, the first ones
constexpr std::int64_t kLongestBurst = 1'000'000;  // ns; longer calls make shorter bursts
constexpr int kFewestRepetitions = 30;             // of a rival
constexpr int kMostRepetitions = 1000;             // per launch: the launch, not the repetition, is replicated
constexpr std::int64_t kShortestSpan = 5'000'000;  // ns; a point that is shorter sees one moment of the machine only
constexpr int kRoundsBetweenChecks = 5;            // a check sorts all samples
constexpr double kMostInvalid = 0.1;
constexpr double kRatioUnit = 1e6;

/// How many repetitions a rival's next burst has: none where it has all that the plan asks for. At rank 0.
int next_burst(const Rival& rival, const Protocol& protocol) {
    if (!protocol.repetitions) {
        return rival.warmup.repetitions_within(std::min(kLongestBurst, protocol.time_limit_ns), kBurst);
    }
    return std::min(kBurst, *protocol.repetitions - static_cast<int>(rival.samples.completion.size()));
}

/// Each rival's time over the median rival's of the same round, in parts per million, rounds in their order.
std::vector<std::vector<std::int64_t>> ratios(std::span<const Rival> rivals) {
    auto rounds = rivals.front().burst_medians.size();
    for (const auto& rival : rivals) rounds = std::min(rounds, rival.burst_medians.size());
    std::vector<std::vector<std::int64_t>> of_rivals(rivals.size());
    std::vector<std::int64_t> times(rivals.size());
    for (std::size_t round = 0; round < rounds; ++round) {
        std::ranges::transform(rivals, times.begin(), [&](const Rival& rival) { return rival.burst_medians[round]; });
        if (std::ranges::find(times, 0) != times.end()) continue;  // a burst without a valid repetition
        const auto typical = static_cast<double>(median_of(times));
        for (std::size_t i = 0; i < rivals.size(); ++i) {
            of_rivals[i].push_back(static_cast<std::int64_t>(kRatioUnit * static_cast<double>(times[i]) / typical));
        }
    }
    return of_rivals;
}

/// Whether the median of each rival, and its ratio to the others, are known to the plan's precision.
bool precise(std::span<const Rival> rivals, double precision) {
    const auto is_precise = [&](const auto& values) { return relative_half_width(values) <= precision; };
    return std::ranges::all_of(rivals, [&](const Rival& rival) { return is_precise(rival.samples.completion); }) &&
           (rivals.size() == 1 || std::ranges::all_of(ratios(rivals), is_precise));
}

/// Whether the rivals have enough samples after `elapsed` nanoseconds and `round` rounds.
StopReason stop_reason(std::span<const Rival> rivals, int round, std::int64_t elapsed, const Protocol& protocol) {
    const auto most = protocol.repetitions.value_or(kMostRepetitions);
    std::size_t fewest = rivals.front().samples.completion.size();
    for (const auto& rival : rivals) fewest = std::min(fewest, rival.samples.completion.size());
    const bool all = std::cmp_greater_equal(fewest, most);
    if (protocol.repetitions) return all ? StopReason::repetitions : StopReason::none;
    const auto limit = protocol.time_limit_ns * static_cast<std::int64_t>(rivals.size());
    const bool enough = std::cmp_greater_equal(fewest, kFewestRepetitions);
    const bool long_enough = elapsed >= std::min(kShortestSpan, limit) || all;
    if (enough && long_enough && (round % kRoundsBetweenChecks == 0 || all) && precise(rivals, protocol.precision)) {
        return StopReason::precision;
    }
    if (all) return StopReason::repetitions;
    return elapsed >= limit && fewest > 0 ? StopReason::time_limit : StopReason::none;
}

/// One burst; at rank 0 its samples are taken.
void run_burst(const Harness& harness, Rival& rival, Buffers& buffers, const Protocol& protocol) {
    const int calls = broadcast_from_root(harness, next_burst(rival, protocol));
    if (calls == 0) return;
    const int settling = protocol.repetitions ? 0 : calls / kSettling;
    const auto timed = run_block(harness, *rival.operation, buffers, calls, rival.sync, settling);
    if (harness.rank == 0) {
        const int bad = rival.samples.take(timed, settling);
        rival.burst_medians.push_back(rival.samples.median_of_burst());
        if (bad > kMostInvalid * calls && rival.sync.slack_ns > 0) {
            // Beyond the time limit no slack helps: ranks that are that late are synchronised by a barrier instead.
            rival.sync.slack_ns = 2 * rival.sync.slack_ns < protocol.time_limit_ns ? 2 * rival.sync.slack_ns : 0;
        }
    }
    rival.sync.slack_ns = broadcast_from_root(harness, rival.sync.slack_ns);
}

}  // namespace

StopReason take_turns(const Harness& harness, std::span<Rival> rivals, Buffers& buffers, const Protocol& protocol,
                      Shuffler& shuffler, const std::function<void(int)>& under_way) {
    std::vector<std::size_t> turns(rivals.size());
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    StopReason end = StopReason::none;
    const auto begin = harness.clock.now();
    for (int round = 1; end == StopReason::none; ++round) {
        std::ranges::shuffle(turns, shuffler);
        for (const auto turn : turns) {
            Rival& rival = rivals[turn];
            under_way(rival.id);
            run_burst(harness, rival, buffers, protocol);
        }
        if (harness.rank == 0) end = stop_reason(rivals, round, harness.clock.now() - begin, protocol);
        end = broadcast_from_root(harness, end);
        harness.clock.keep_synchronised();
    }
    const auto in_proportion = ratios(rivals);
    for (std::size_t i = 0; i < rivals.size(); ++i) {
        if (in_proportion[i].empty()) continue;  // but at rank 0
        rivals[i].relative = static_cast<double>(median_of(in_proportion[i])) / kRatioUnit;
    }
    return end;
}

}  // namespace timpani
