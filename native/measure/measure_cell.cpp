#include "measure/measure_cell.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "json/json.hpp"
#include "measure/control.hpp"
#include "measure/harness_messages.hpp"
#include "measure/stop_rule.hpp"

namespace timpani {

namespace {

constexpr int kWarmupBlock = 20;
constexpr int kFewestWarmup = 10;
constexpr double kWarmupAgreement = 0.02;            // two consecutive blocks' medians
constexpr std::int64_t kShortestWarmup = 5'000'000;  // ns
constexpr int kFewestRepetitions = 30;
constexpr int kMostRepetitions = 1000;             // per cell and launch: the launch, not the repetition, is replicated
constexpr std::int64_t kShortestSpan = 5'000'000;  // ns; a burst that is shorter sees one moment of the machine only
constexpr int kBlock = 50;
constexpr double kMostInvalid = 0.1;
constexpr int kOsuLargeBytes = 8192;  // above it OSU's benchmarks run fewer iterations

/// Rank 0's decision, made known to all.
template <typename Value>
Value agree(const Harness& harness, Value value) {
    MPI_Bcast(&value, sizeof value, MPI_BYTE, 0, harness.comm);
    return value;
}

/// How many repetitions of `each_ns` fit into `available_ns`, between 1 and `most`.
int fitting(std::int64_t available_ns, std::int64_t each_ns, int most) {
    const auto fit = available_ns / std::max<std::int64_t>(1, each_ns);
    return static_cast<int>(std::clamp<std::int64_t>(fit, 1, most));
}

struct Warmup {
    int repetitions = 0;
    std::int64_t each_ns = 0;        // wall time of one repetition with its start
    std::int64_t root_ahead_ns = 0;  // how long the others are still busy when the root is done
};

/// At least 10 calls and 5 ms, then until the medians of two consecutive blocks agree; a slow operation ends it when
/// the slot is spent; or as many calls as are asked for. Starts by barrier.
Warmup warm_up(const Harness& harness, const Operation& operation, Buffers& buffers, const Protocol& protocol) {
    Warmup warmup;
    std::int64_t previous = 0;
    int block = protocol.warmup.value_or(2);
    const auto begin = harness.clock.now();
    for (bool done = false; !done;) {
        const auto repetitions = run_block(harness, operation, buffers, block, 0).repetitions;
        warmup.repetitions += block;
        if (harness.rank == 0) {
            std::vector<std::int64_t> completions;
            std::vector<std::int64_t> ahead;
            for (const auto& repetition : repetitions) {
                completions.push_back(repetition.completion);
                ahead.push_back(repetition.root_ahead);
            }
            const auto elapsed = harness.clock.now() - begin;
            warmup.each_ns = elapsed / warmup.repetitions;
            warmup.root_ahead_ns = median_of(ahead);
            const auto median = median_of(completions);
            const bool steady = previous > 0 && std::abs(static_cast<double>(median - previous)) <
                                                    kWarmupAgreement * static_cast<double>(previous);
            const bool enough = warmup.repetitions >= kFewestWarmup && elapsed >= kShortestWarmup;
            done = protocol.warmup || (enough && steady) ||
                   (warmup.repetitions >= kFewestWarmup && elapsed >= protocol.slot_ns);
            previous = block == kWarmupBlock ? median : 0;
            block = std::max(kFewestWarmup / 2, fitting(protocol.slot_ns / 4, warmup.each_ns, kWarmupBlock));
        }
        done = agree(harness, done);
        block = agree(harness, block);
    }
    return agree(harness, warmup);
}

/// Raw samples of a cell as they grow, at rank 0.
struct Samples {
    std::vector<std::int64_t> completion;
    std::vector<std::int64_t> latency;
    std::vector<std::int64_t> average;
    std::vector<std::int64_t> skew;
    std::vector<std::int64_t> rank_sums;
    int invalid = 0;

    /// Returns how many were invalid.
    int take(const Block& block) {
        int bad = 0;
        for (const auto& repetition : block.repetitions) {
            if (!repetition.valid) {
                ++bad;
                continue;
            }
            completion.push_back(repetition.completion);
            latency.push_back(repetition.latency);
            average.push_back(repetition.average);
            skew.push_back(repetition.skew);
        }
        rank_sums.resize(block.rank_sums_ns.size());
        for (std::size_t rank = 0; rank < rank_sums.size(); ++rank) rank_sums[rank] += block.rank_sums_ns[rank];
        invalid += bad;
        return bad;
    }
};

std::string describe(const Samples& samples, int warmup, const char* start, const char* stopped_by) {
    std::vector<std::int64_t> means;
    const auto valid = static_cast<std::int64_t>(samples.completion.size());
    for (const auto sum : samples.rank_sums) means.push_back(sum / std::max<std::int64_t>(1, valid));
    return JsonObject()
        .add("start", start)
        .add("stopped_by", stopped_by)
        .add("warmup", warmup)
        .add("invalid", samples.invalid)
        .add("rank_mean_ns", means)
        .add("completion_ns", samples.completion)
        .add("latency_ns", samples.latency)
        .add("average_ns", samples.average)
        .add("skew_ns", samples.skew)
        .text();
}

std::string measure_as_osu(const Harness& harness, const Operation& operation, Buffers& buffers,
                           const Protocol& protocol, const CellPlan& cell) {
    const bool large = cell.message_bytes > kOsuLargeBytes;
    const int warmup = protocol.warmup.value_or(large ? 10 : 100);
    const int repetitions = protocol.repetitions.value_or(large ? 100 : 1000);
    MPI_Barrier(operation.comm());
    if (warmup > 0) run_osu_block(harness, operation, buffers, warmup);
    MPI_Barrier(operation.comm());
    Samples samples;
    samples.take(run_osu_block(harness, operation, buffers, repetitions));
    return describe(samples, warmup, "mpi_barrier", "repetitions");
}

/// What the library says of an error, on one line.
std::string describe_error(int error) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(error, text.data(), &length);
    std::ranges::replace(text, '\n', ' ');
    return "refused by the library: " + std::string(text.data(), static_cast<std::size_t>(length));
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

std::optional<std::string> check_result(const Harness& harness, const Operation& operation, Buffers& buffers) {
    buffers.poison(operation, harness.rank);
    int error = MPI_SUCCESS;
    {
        const ScopedControls scope(operation.controls());
        error = operation(buffers.send(), buffers.receive());
    }
    const auto mistake =
        error == MPI_SUCCESS ? buffers.find_mistake(operation, harness.rank) : std::optional(describe_error(error));
    int first = mistake ? harness.rank : harness.size;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, harness.comm);
    if (first == harness.size) return std::nullopt;
    std::string text = mistake.value_or("");
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, first, harness.comm);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, first, harness.comm);
    return text;
}

std::string measure_cell(const Harness& harness, const Operation& operation, Buffers& buffers, const Protocol& protocol,
                         const CellPlan& cell) {
    if (protocol.method == Method::osu) return measure_as_osu(harness, operation, buffers, protocol, cell);
    const Warmup warmup = warm_up(harness, operation, buffers, protocol);
    // The slack covers the deadline's way to the last rank and the work that others still do when the root is done.
    std::int64_t slack = protocol.start == Start::barrier ? 0 : 2 * protocol.broadcast_ns + 2 * warmup.root_ahead_ns;
    Samples samples;
    enum class End : int { no, precision, repetitions, slot };
    End end = End::no;
    const auto begin = harness.clock.now();
    while (end == End::no) {
        const auto left = protocol.slot_ns - (harness.clock.now() - begin);
        const int block = agree(harness, protocol.repetitions.value_or(fitting(left, warmup.each_ns, kBlock)));
        const auto timed = run_block(harness, operation, buffers, block, slack);
        if (harness.rank == 0) {
            const int bad = samples.take(timed);
            const auto elapsed = harness.clock.now() - begin;
            const auto count = static_cast<int>(samples.completion.size());
            if (bad > kMostInvalid * block) {
                // A slack beyond the slot helps nobody: ranks that are that late are started by a barrier instead.
                slack = 2 * slack < protocol.slot_ns ? 2 * slack : 0;
            }
            const int most = protocol.repetitions.value_or(kMostRepetitions);
            const bool long_enough = elapsed >= std::min(kShortestSpan, protocol.slot_ns) || count >= most;
            if (long_enough && count >= kFewestRepetitions &&
                relative_half_width(samples.completion) <= protocol.precision) {
                end = End::precision;
            } else if (count >= most) {
                end = End::repetitions;
            } else if (elapsed >= protocol.slot_ns && count > 0) {
                end = End::slot;
            }
        }
        slack = agree(harness, slack);
        end = agree(harness, end);
        harness.clock.keep_synchronised();
    }
    const char* const stopped_by = end == End::precision ? "precision" : end == End::slot ? "slot" : "repetitions";
    return describe(samples, warmup.repetitions, slack > 0 ? "round_time" : "barrier", stopped_by);
}

}  // namespace timpani
