#include "measure/launch/interleave.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "measure/cell/harness.hpp"
#include "measure/cell/samples.hpp"

namespace timpani {

namespace {

constexpr int kBurstCalls = 20;
constexpr int kSettlingDivisor = 10;             // The first tenth of a burst's calls is recorded separately.
constexpr std::int64_t kMaxBurstNs = 1'000'000;  // Longer calls make shorter bursts.
constexpr int kMinRepetitions = 30;              // Per competitor.
constexpr int kMaxRepetitions = 1000;            // per launch: launches are the replicates, not repetitions
constexpr std::int64_t kMinSpanNs = 5'000'000;   // a shorter point would see only one moment of the machine
constexpr int kRoundsBetweenChecks = 5;          // a check sorts all samples
constexpr double kMaxInvalidShare = 0.1;
constexpr double kMinRounds = 6;  // rounds that give one competitor's variance well enough for a decision
constexpr int kRoundsBetweenLosses = 3;
constexpr double kLossStandardErrors = 4;

/// Number of repetitions in a competitor's next burst: 0 if it lost, or has all that the plan requires. At rank 0.
int next_burst(const Competitor& competitor, const Protocol& protocol) {
    if (competitor.lost) return 0;
    if (!protocol.plan.repetitions) {
        return competitor.warmup.repetitions_within(std::min(kMaxBurstNs, protocol.plan.slot_ns), kBurstCalls);
    }
    return std::min(kBurstCalls,
                    *protocol.plan.repetitions - static_cast<int>(competitor.samples.valid.repetitions.size()));
}

/// A competitor's time relative to the others', as a logarithm, over rounds.
struct Proportion {
    double mean = 0;
    double error = 0;   // standard error of the mean, from at least two rounds
    double rounds = 0;  // number of valid rounds
};

/// For each competitor, the mean and standard error of the logarithm of its burst over the geometric mean of all bursts
/// of the same round. Competitors that lost are excluded; the result is empty if no round is valid.
///
/// It is a mean over rounds: a burst is often in one of two states, depending on how its ranks' loops align, and a
/// median over rounds would jump between these.
std::vector<Proportion> proportions(std::span<const Competitor> competitors) {
    std::size_t rounds = std::numeric_limits<std::size_t>::max();
    double staying = 0;
    for (const auto& competitor : competitors) {
        if (competitor.lost) continue;
        rounds = std::min(rounds, competitor.burst_midmeans.size());
        ++staying;
    }
    std::vector<double> common(rounds);  // 0 or not finite if a burst has no valid repetition
    for (const auto& competitor : competitors) {
        if (competitor.lost) continue;
        for (std::size_t round = 0; round < rounds; ++round) {
            common[round] += std::log(competitor.burst_midmeans[round]) / staying;
        }
    }
    std::vector<Proportion> found;
    for (const auto& competitor : competitors) {
        Proportion each;
        double sum = 0;
        double squares = 0;
        for (std::size_t round = 0; round < std::min(rounds, competitor.burst_midmeans.size()); ++round) {
            const double proportion = std::log(competitor.burst_midmeans[round]) - common[round];
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

/// Marks the competitors that take significantly more than `factor` times the time of the fastest one that hasn't lost.
/// So one always remains, even if the machine changes and one that lost now seems faster than all others.
void drop_losers(std::span<Competitor> competitors, double factor) {
    const auto found = proportions(competitors);
    if (found.empty()) return;
    Proportion fastest{.mean = std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < competitors.size(); ++i) {
        if (!competitors[i].lost && found[i].mean < fastest.mean) fastest = found[i];
    }
    for (std::size_t i = 0; i < competitors.size(); ++i) {
        if (std::min(found[i].rounds, fastest.rounds) < kMinRounds) continue;
        const double error = std::hypot(found[i].error, fastest.error);
        if (found[i].mean - fastest.mean - kLossStandardErrors * error > std::log(factor)) competitors[i].lost = true;
    }
}

/// Whether the plan's precision is reached for the median of each competitor that hasn't lost, and for its time
/// relative to the others.
bool precise(std::span<const Competitor> competitors, double precision) {
    const auto found = proportions(competitors);
    for (std::size_t i = 0; i < competitors.size(); ++i) {
        if (competitors[i].lost) continue;
        if (competitors.size() > 1) {
            if (found.empty() || found[i].rounds < kMinRounds || kZ95 * found[i].error > precision) return false;
        }
        if (relative_half_width(competitors[i].samples.valid.times(&Repetition::completion)) > precision) return false;
    }
    return true;
}

/// Whether the competitors that haven't lost have enough samples after `elapsed` nanoseconds and `round` of `rounds`
/// rounds.
StopReason stop_reason(std::span<const Competitor> competitors, int round, std::optional<int> rounds,
                       std::int64_t elapsed, const Protocol& protocol) {
    const auto maximum = protocol.plan.repetitions.value_or(kMaxRepetitions);
    auto minimum = std::numeric_limits<std::size_t>::max();
    std::int64_t staying = 0;
    for (const auto& competitor : competitors) {
        if (competitor.lost) continue;
        minimum = std::min(minimum, competitor.samples.valid.repetitions.size());
        ++staying;
    }
    const bool all = std::cmp_greater_equal(minimum, maximum);
    if (protocol.plan.repetitions) return all ? StopReason::repetitions : StopReason::none;
    const auto limit = protocol.plan.slot_ns * staying;
    const bool enough = std::cmp_greater_equal(minimum, kMinRepetitions);
    const bool long_enough = elapsed >= std::min(kMinSpanNs, limit) || all;
    const bool checked = round % kRoundsBetweenChecks == 0 || all;
    if (rounds) {
        if (round >= *rounds && minimum > 0) return StopReason::rounds;
    } else if (enough && long_enough && checked && precise(competitors, protocol.plan.precision)) {
        return StopReason::precision;
    }
    if (all) return StopReason::repetitions;
    return elapsed >= limit && minimum > 0 ? StopReason::time_limit : StopReason::none;
}

/// Runs one burst. Rank 0 keeps its samples.
void run_burst(const Harness& harness, Competitor& competitor, Buffers& buffers, const Protocol& protocol) {
    const int calls = broadcast_from_root(harness, next_burst(competitor, protocol));
    if (calls == 0) return;
    const int settling = protocol.plan.repetitions ? 0 : calls / kSettlingDivisor;
    const auto timed = run_block(harness, *competitor.operation, buffers, calls, competitor.sync, settling);
    if (harness.rank == 0) {
        const int bad = competitor.samples.take(timed, settling);
        competitor.burst_midmeans.push_back(competitor.samples.midmean_of_burst());
        if (bad > kMaxInvalidShare * calls && competitor.sync.slack_ns > 0) {
            // Beyond the time limit slack doesn't help: ranks that are that late are synchronized by a barrier instead.
            competitor.sync.slack_ns =
                2 * competitor.sync.slack_ns < protocol.plan.slot_ns ? 2 * competitor.sync.slack_ns : 0;
        }
    }
    competitor.sync.slack_ns = broadcast_from_root(harness, competitor.sync.slack_ns);
}

}  // namespace

std::string_view Competitor::start() const {
    if (sync.batch > 0) return operation->synchronized_by();
    return sync.slack_ns > 0 ? "round_time" : "barrier";
}

Competitor make_competitor(const Harness& harness, const CellPlan& cell, std::unique_ptr<Operation> operation,
                           Buffers& buffers, const Protocol& protocol, InjectedLateness& lateness) {
    Competitor competitor;
    competitor.id = cell.id;
    competitor.operation = std::move(operation);
    Operation& called = *competitor.operation;
    // In other cache modes, work between calls would delay the partner unnoticed, so calls need a synchronized start.
    const bool back_to_back = !called.synchronized_by().empty() && cell.mode == CacheMode::warm;
    competitor.sync.batch = back_to_back ? 1 : 0;
    competitor.sync.lateness = &lateness;
    competitor.warmup = warm_up(harness, called, buffers, protocol, competitor.sync);
    if (back_to_back && !protocol.plan.repetitions) {
        const Batch batch = find_batch(harness, called, buffers, protocol);
        competitor.sync.batch = batch.calls;
        competitor.warmup.each_ns = batch.each_ns;  // without the sleep of idle ranks after each block
    } else if (!back_to_back && protocol.plan.start == Start::round_time) {
        // The slack covers the time until the deadline reaches the last rank, and the work that other ranks still do
        // when the root has finished.
        competitor.sync.slack_ns = 2 * protocol.broadcast_ns + 2 * competitor.warmup.root_ahead_ns;
    }
    return competitor;
}

StopReason interleave(const Harness& harness, std::span<Competitor> competitors, Buffers& buffers,
                      const Protocol& protocol, std::optional<int> rounds, Shuffler& shuffler,
                      const std::function<void(int)>& under_way) {
    std::vector<std::size_t> turns(competitors.size());
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    StopReason end = StopReason::none;
    const auto begin = harness.clock.now();
    for (int round = 1; end == StopReason::none; ++round) {
        std::ranges::shuffle(turns, shuffler);
        for (const auto turn : turns) {
            Competitor& competitor = competitors[turn];
            under_way(competitor.id);
            run_burst(harness, competitor, buffers, protocol);
        }
        if (harness.rank == 0 && protocol.plan.lose_at && round % kRoundsBetweenLosses == 0) {
            drop_losers(competitors, *protocol.plan.lose_at);
        }
        if (harness.rank == 0) end = stop_reason(competitors, round, rounds, harness.clock.now() - begin, protocol);
        end = broadcast_from_root(harness, end);
        harness.clock.keep_synchronized();
    }
    const auto found = proportions(competitors);  // at rank 0
    for (std::size_t i = 0; i < found.size(); ++i) {
        competitors[i].relative = std::exp(found[i].mean);
        competitors[i].relative_error = found[i].error;
    }
    return end;
}

}  // namespace timpani
