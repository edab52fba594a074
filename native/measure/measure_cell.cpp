#include "measure/measure_cell.hpp"

#include <algorithm>
#include <vector>

#include "measure/broadcast_from_root.hpp"
#include "measure/harness_messages.hpp"
#include "measure/osu_protocol.hpp"
#include "measure/samples.hpp"
#include "measure/stop_rule.hpp"
#include "measure/warm_up.hpp"

namespace timpani {

namespace {

constexpr int kFewestRepetitions = 30;
constexpr int kMostRepetitions = 1000;             // per cell and launch: the launch, not the repetition, is replicated
constexpr std::int64_t kShortestSpan = 5'000'000;  // ns; a burst that is shorter sees one moment of the machine only
constexpr int kBlock = 50;
constexpr double kMostInvalid = 0.1;

enum class StopReason : int { none, precision, repetitions, time_limit };

/// Whether a cell has enough samples after `elapsed` nanoseconds.
StopReason stop_reason(const Samples& samples, std::int64_t elapsed, const Protocol& protocol) {
    const auto count = static_cast<int>(samples.completion.size());
    if (protocol.repetitions) return count >= *protocol.repetitions ? StopReason::repetitions : StopReason::none;
    const bool long_enough = elapsed >= std::min(kShortestSpan, protocol.time_limit_ns) || count >= kMostRepetitions;
    if (long_enough && count >= kFewestRepetitions && relative_half_width(samples.completion) <= protocol.precision) {
        return StopReason::precision;
    }
    if (count >= kMostRepetitions) return StopReason::repetitions;
    return elapsed >= protocol.time_limit_ns && count > 0 ? StopReason::time_limit : StopReason::none;
}

/// How many repetitions to run next.
int next_block(const Samples& samples, std::int64_t elapsed, const Warmup& warmup, const Protocol& protocol) {
    if (!protocol.repetitions) return warmup.repetitions_within(protocol.time_limit_ns - elapsed, kBlock);
    return std::min(kBlock, *protocol.repetitions - static_cast<int>(samples.completion.size()));
}

}  // namespace

std::int64_t broadcast_cost_ns(const Harness& harness) {
    constexpr int kRepetitions = kSimulated ? 1 : 51;
    std::vector<std::int64_t> costs;
    for (int i = 0; i < kRepetitions; ++i) {
        dissemination_barrier(harness.comm, harness.rank, harness.size);
        const auto sent = broadcast_number(harness.comm, harness.rank, harness.size, harness.clock.now());
        costs.push_back(harness.clock.now() - sent);
    }
    std::int64_t cost = median_of(costs);
    MPI_Allreduce(MPI_IN_PLACE, &cost, 1, MPI_INT64_T, MPI_MAX, harness.comm);
    return std::max<std::int64_t>(cost, 100);
}

std::string measure_cell(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
                         const CellPlan& cell) {
    if (protocol.method == Method::osu) return measure_as_osu(harness, operation, buffers, protocol, cell);
    // What another cache mode does between calls would delay the partner unseen: then a start is needed after all.
    const bool back_to_back = !operation.synchronised_by().empty() && cell.mode == CacheMode::warm;
    Synchronisation sync{.batch = back_to_back ? 1 : 0};
    Warmup warmup = warm_up(harness, operation, buffers, protocol, sync);
    if (back_to_back && !protocol.repetitions) {
        const Batch batch = find_batch(harness, operation, buffers, protocol);
        sync.batch = batch.calls;
        warmup.each_ns = batch.each_ns;  // without the sleep of idle ranks after each block
    } else if (!back_to_back && protocol.start == Start::round_time) {
        // The slack covers the deadline's way to the last rank and the work that others still do when the root is done.
        sync.slack_ns = 2 * protocol.broadcast_ns + 2 * warmup.root_ahead_ns;
    }
    Samples samples;
    StopReason end = StopReason::none;
    const auto begin = harness.clock.now();
    while (end == StopReason::none) {
        const int block =
            broadcast_from_root(harness, next_block(samples, harness.clock.now() - begin, warmup, protocol));
        const auto timed = run_block(harness, operation, buffers, block, sync);
        if (harness.rank == 0) {
            const int bad = samples.take(timed);
            if (bad > kMostInvalid * block) {
                // Beyond the time limit no slack helps: ranks that are that late are synchronised by a barrier instead.
                sync.slack_ns = 2 * sync.slack_ns < protocol.time_limit_ns ? 2 * sync.slack_ns : 0;
            }
            end = stop_reason(samples, harness.clock.now() - begin, protocol);
        }
        sync.slack_ns = broadcast_from_root(harness, sync.slack_ns);
        end = broadcast_from_root(harness, end);
        harness.clock.keep_synchronised();
    }
    const auto start = back_to_back ? operation.synchronised_by() : sync.slack_ns > 0 ? "round_time" : "barrier";
    const auto stopped_by = end == StopReason::precision    ? "precision"
                            : end == StopReason::time_limit ? "slot"
                                                            : "repetitions";
    const bool converged = protocol.repetitions || relative_half_width(samples.completion) <= protocol.precision;
    const auto messages = operation.messages_per_call() * std::max(1, sync.batch);
    return describe(samples, {warmup.repetitions, start, stopped_by, converged, messages});
}

}  // namespace timpani
