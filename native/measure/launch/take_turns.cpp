#include "measure/launch/take_turns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "measure/cell/harness.hpp"
#include "measure/cell/stop_rule.hpp"

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
constexpr double kFewestRounds = 6;  // that tell a single rival's variance well enough to judge by
constexpr int kRoundsBetweenLosses = 3;
constexpr double kSureOfLoss = 4;  // standard errors

/// How many repetitions a rival's next burst has: none where it lost or has all that the plan asks for. At rank 0.
int next_burst(const Rival& rival, const Protocol& protocol) {
    if (rival.lost) return 0;
    if (!protocol.repetitions) {
        return rival.warmup.repetitions_within(std::min(kLongestBurst, protocol.time_limit_ns), kBurst);
    }
    return std::min(kBurst, *protocol.repetitions - static_cast<int>(rival.samples.completion.size()));
}

/// A rival's time in proportion to the others', in logarithms, over rounds.
struct Proportion {
    double mean = 0;
    double error = 0;   // standard error of the mean; of two rounds and more
    double rounds = 0;  // that tell
};

/// Mean and standard error of each rival's burst to the geometric mean of all bursts of the same round by rivals that
/// didn't lose; none where no round tells.
///
/// Averaged over rounds: a burst is often in one of two states, as to its ranks' loops falling in step, and a median
/// over rounds would jump between them.
std::vector<Proportion> proportions(std::span<const Rival> rivals) {
    std::size_t rounds = std::numeric_limits<std::size_t>::max();
    double staying = 0;
    for (const auto& rival : rivals) {
        if (rival.lost) continue;
        rounds = std::min(rounds, rival.burst_midmeans.size());
        ++staying;
    }
    std::vector<double> common(rounds);  // 0 and not finite where a burst has no valid repetition
    for (const auto& rival : rivals) {
        if (rival.lost) continue;
        for (std::size_t round = 0; round < rounds; ++round) {
            common[round] += std::log(rival.burst_midmeans[round]) / staying;
        }
    }
    std::vector<Proportion> found;
    for (const auto& rival : rivals) {
        Proportion each;
        double sum = 0;
        double squares = 0;
        for (std::size_t round = 0; round < std::min(rounds, rival.burst_midmeans.size()); ++round) {
            const double proportion = std::log(rival.burst_midmeans[round]) - common[round];
            if (!std::isfinite(proportion)) continue;
            ++each.rounds;
            sum += proportion;
            squares += proportion * proportion;
        }
        if (each.rounds == 0) return {};
        each.mean = sum / each.rounds;
        const double variance = std::max(0.0, squares / each.rounds - each.mean * each.mean);
        each.error = std::sqrt(variance / std::max(1.0, each.rounds - 1));
        found.push_back(each);
    }
    return found;
}

/// Marks the rivals that take more than `factor` times the time of the fastest that didn't lose, as sure as rounds can
/// tell: so one always stays, also where the machine changes and one that lost seems faster than all others now.
void drop_losers(std::span<Rival> rivals, double factor) {
    const auto found = proportions(rivals);
    if (found.empty()) return;
    Proportion fastest{.mean = std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < rivals.size(); ++i) {
        if (!rivals[i].lost && found[i].mean < fastest.mean) fastest = found[i];
    }
    for (std::size_t i = 0; i < rivals.size(); ++i) {
        if (std::min(found[i].rounds, fastest.rounds) < kFewestRounds) continue;
        const double error = std::hypot(found[i].error, fastest.error);
        if (found[i].mean - fastest.mean - kSureOfLoss * error > std::log(factor)) rivals[i].lost = true;
    }
}

/// Whether the median of each rival that didn't lose, and its proportion to the others, are known to the plan's
/// precision.
bool precise(std::span<const Rival> rivals, double precision) {
    const auto found = proportions(rivals);
    for (std::size_t i = 0; i < rivals.size(); ++i) {
        if (rivals[i].lost) continue;
        if (rivals.size() > 1) {
            if (found.empty() || found[i].rounds < kFewestRounds || kZ95 * found[i].error > precision) return false;
        }
        if (relative_half_width(rivals[i].samples.completion) > precision) return false;
    }
    return true;
}

/// Whether the rivals that didn't lose have enough samples after `elapsed` nanoseconds and `round` of `rounds` rounds.
StopReason stop_reason(std::span<const Rival> rivals, int round, std::optional<int> rounds, std::int64_t elapsed,
                       const Protocol& protocol) {
    const auto maximum = protocol.repetitions.value_or(kMostRepetitions);
    auto minimum = std::numeric_limits<std::size_t>::max();
    std::int64_t staying = 0;
    for (const auto& rival : rivals) {
        if (rival.lost) continue;
        minimum = std::min(minimum, rival.samples.completion.size());
        ++staying;
    }
    const bool all = std::cmp_greater_equal(minimum, maximum);
    if (protocol.repetitions) return all ? StopReason::repetitions : StopReason::none;
    const auto limit = protocol.time_limit_ns * staying;
    const bool enough = std::cmp_greater_equal(minimum, kFewestRepetitions);
    const bool long_enough = elapsed >= std::min(kShortestSpan, limit) || all;
    const bool checked = round % kRoundsBetweenChecks == 0 || all;
    if (rounds) {
        if (round >= *rounds && minimum > 0) return StopReason::rounds;
    } else if (enough && long_enough && checked && precise(rivals, protocol.precision)) {
        return StopReason::precision;
    }
    if (all) return StopReason::repetitions;
    return elapsed >= limit && minimum > 0 ? StopReason::time_limit : StopReason::none;
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
            // Beyond the time limit no slack helps: ranks that are that late are synchronized by a barrier instead.
            rival.sync.slack_ns = 2 * rival.sync.slack_ns < protocol.time_limit_ns ? 2 * rival.sync.slack_ns : 0;
        }
    }
    rival.sync.slack_ns = broadcast_from_root(harness, rival.sync.slack_ns);
}

}  // namespace

StopReason take_turns(const Harness& harness, std::span<Rival> rivals, Buffers& buffers, const Protocol& protocol,
                      std::optional<int> rounds, Shuffler& shuffler, const std::function<void(int)>& under_way) {
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
        if (harness.rank == 0 && protocol.lose_at && round % kRoundsBetweenLosses == 0) {
            drop_losers(rivals, *protocol.lose_at);
        }
        if (harness.rank == 0) end = stop_reason(rivals, round, rounds, harness.clock.now() - begin, protocol);
        end = broadcast_from_root(harness, end);
        harness.clock.keep_synchronized();
    }
    const auto found = proportions(rivals);  // at rank 0
    for (std::size_t i = 0; i < found.size(); ++i) {
        rivals[i].relative = std::exp(found[i].mean);
        rivals[i].relative_error = found[i].error;
    }
    return end;
}

}  // namespace timpani
