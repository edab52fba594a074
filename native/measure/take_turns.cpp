#include "measure/take_turns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
constexpr double kFewestRounds = 6;  // that tell a variance

/// How many repetitions a rival's next burst has: none where it has all that the plan asks for. At rank 0.
int next_burst(const Rival& rival, const Protocol& protocol) {
    if (!protocol.repetitions) {
        return rival.warmup.repetitions_within(std::min(kLongestBurst, protocol.time_limit_ns), kBurst);
    }
    return std::min(kBurst, *protocol.repetitions - static_cast<int>(rival.samples.completion.size()));
}

/// A rival's time in proportion to the others', in logarithms, over rounds.
struct Proportion {
    double mean;
    double half_width;  // of the mean's 95 % interval
};

/// Of each rival's burst to the geometric mean of all rivals' bursts of the same round; none where no round tells.
///
/// Averaged over rounds: a burst is often in one of two states, as to its ranks' loops falling in step, and a median
/// over rounds would jump between them.
std::vector<Proportion> proportions(std::span<const Rival> rivals) {
    auto rounds = rivals.front().burst_midmeans.size();
    for (const auto& rival : rivals) rounds = std::min(rounds, rival.burst_midmeans.size());
    std::vector<double> sums(rivals.size());
    std::vector<double> squares(rivals.size());
    std::vector<double> logs(rivals.size());
    double told = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::ranges::transform(rivals, logs.begin(),
                               [&](const Rival& rival) { return std::log(rival.burst_midmeans[round]); });
        const double common = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
        if (!std::isfinite(common)) continue;  // a burst without a valid repetition
        ++told;
        for (std::size_t i = 0; i < rivals.size(); ++i) {
            sums[i] += logs[i] - common;
            squares[i] += (logs[i] - common) * (logs[i] - common);
        }
    }
    if (told == 0) return {};
    std::vector<Proportion> found;
    for (std::size_t i = 0; i < rivals.size(); ++i) {
        const double mean = sums[i] / told;
        const double variance = std::max(0.0, squares[i] / told - mean * mean) / std::max(1.0, told - 1);
        found.push_back(
            {mean, told < kFewestRounds ? std::numeric_limits<double>::infinity() : kZ95 * std::sqrt(variance)});
    }
    return found;
}

/// Whether the median of each rival, and its proportion to the others, are known to the plan's precision.
bool precise(std::span<const Rival> rivals, double precision) {
    if (rivals.size() > 1) {
        const auto found = proportions(rivals);
        const auto is_precise = [&](const Proportion& each) { return each.half_width <= precision; };
        if (found.empty() || !std::ranges::all_of(found, is_precise)) return false;
    }
    return std::ranges::all_of(
        rivals, [&](const Rival& rival) { return relative_half_width(rival.samples.completion) <= precision; });
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
        rival.burst_midmeans.push_back(rival.samples.midmean_of_burst());
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
    const auto found = proportions(rivals);  // at rank 0
    for (std::size_t i = 0; i < found.size(); ++i) rivals[i].relative = std::exp(found[i].mean);
    return end;
}

}  // namespace timpani
