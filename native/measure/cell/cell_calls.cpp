#include "measure/cell/cell_calls.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "execute/exchange_values.hpp"
#include "json/json.hpp"
#include "measure/cell/harness.hpp"
#include "measure/cell/samples.hpp"
#include "measure/observe/control.hpp"

namespace timpani {

namespace {

/// The library's text for an error, on one line.
std::string describe_error(int error) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(error, text.data(), &length);
    std::ranges::replace(text, '\n', ' ');
    return "refused by the library: " + std::string(text.data(), static_cast<std::size_t>(length));
}

/// The mistake of the lowest rank that has one, on every rank.
std::optional<std::string> first_mistake(const Harness& harness, const std::optional<std::string>& mistake) {
    int first = mistake ? harness.rank : harness.size;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, harness.comm);
    if (first == harness.size) return std::nullopt;
    return broadcast_values(mistake.value_or(""), first, harness.comm);
}

/// A p × p matrix for the p ranks of `comm`, as JSON at rank 0. Each rank has its row.
std::string gather_matrix(const std::vector<std::size_t>& before, const std::vector<std::size_t>& after,
                          MPI_Comm comm) {
    std::vector<std::size_t> row(before.size());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = after[i] - before[i];
    const auto matrix = gather_values(row, comm);
    std::vector<std::string> rows;
    for (std::size_t first = 0; first < matrix.size(); first += row.size()) {
        std::vector<std::string> numbers;
        for (const auto number : std::span(matrix).subspan(first, row.size()))
            numbers.push_back(std::to_string(number));
        rows.push_back(json_array(numbers));
    }
    return json_array(rows);
}

constexpr int kMaxBlock = 20;
constexpr int kMinWarmup = 10;
constexpr int kMinBlock = kMinWarmup / 2;
constexpr int kMinLongWarmup = 2;               // if fewer than kMinWarmup calls reach the time limit
constexpr std::int64_t kMinWarmupNs = 500'000;  // ns
constexpr std::int64_t kReadingsPerSample = 50;

}  // namespace

std::optional<std::string> check_result(const Harness& harness, Operation& operation, Buffers& buffers) {
    buffers.poison(operation);
    int error = MPI_SUCCESS;
    {
        const ScopedControls scope(operation.controls());
        error = operation(buffers.send(), buffers.receive());
    }
    const auto mistake = error == MPI_SUCCESS ? buffers.find_mistake(operation) : std::optional(describe_error(error));
    return first_mistake(harness, mistake);
}

std::optional<std::string> rules_not_followed(const Harness& harness, const std::string& collective) {
    using Refusal = const char* (*)(const char*);
    static const auto refusal = reinterpret_cast<Refusal>(dlsym(RTLD_DEFAULT, "timpani_refusal"));
    const char* const why = refusal == nullptr ? "libtimpani.so is not loaded" : refusal(collective.c_str());
    return first_mistake(harness,
                         why == nullptr ? std::nullopt : std::optional("rules not followed: " + std::string(why)));
}

std::string count_messages(const Harness& harness, const SentSoFar& sent, Operation& operation, Buffers& buffers) {
    std::optional<ScopedControls> scope(operation.controls());
    operation(buffers.send(), buffers.receive());
    const Sent before = sent.read();
    operation(buffers.send(), buffers.receive());
    const Sent after = sent.read();
    scope.reset();  // the harness's collectives follow
    const auto messages = gather_matrix(before.messages, after.messages, harness.comm);
    const auto bytes = gather_matrix(before.bytes, after.bytes, harness.comm);
    return JsonObject().add_json("messages", messages).add_json("bytes", bytes).text();
}

int Warmup::repetitions_within(std::int64_t available_ns, int maximum) const {
    const auto fit = available_ns / std::max<std::int64_t>(1, each_ns);
    return static_cast<int>(std::clamp<std::int64_t>(fit, 1, maximum));
}

Warmup warm_up(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
               const Synchronization& sync) {
    Warmup warmup;
    std::optional<MedianInterval> previous;
    int block = protocol.plan.warmup.value_or(kMinLongWarmup);
    const auto begin = harness.clock.now();
    for (bool done = block == 0; !done;) {
        const Block timed = run_block(harness, operation, buffers, block, sync);
        warmup.repetitions += block;
        if (harness.rank == 0) {
            const auto elapsed = harness.clock.now() - begin;
            warmup.each_ns = elapsed / warmup.repetitions;
            warmup.root_ahead_ns = median_of(timed.times(&Repetition::root_ahead));
            const auto completions = timed.times(&Repetition::completion);
            const auto median = median_of(completions);
            const bool steady = previous && previous->low <= median && median <= previous->high;
            // By the shortest call: the first one may have waited for connections.
            const auto shortest = std::max<std::int64_t>(1, std::ranges::min(completions));
            const auto within_limit = protocol.plan.slot_ns / shortest;
            const auto minimum = static_cast<int>(std::clamp<std::int64_t>(within_limit, kMinLongWarmup, kMinWarmup));
            const bool enough = warmup.repetitions >= minimum;
            done = (enough && steady && elapsed >= kMinWarmupNs) || (enough && elapsed >= protocol.plan.slot_ns) ||
                   protocol.plan.warmup.has_value();
            previous = block > kMinLongWarmup ? std::optional(median_interval(completions)) : std::nullopt;
            // Two blocks fill the time. The second may show that the first was slower.
            const auto block_limit =
                static_cast<int>(std::clamp<std::int64_t>(kMinWarmupNs / 2 / shortest, kMinBlock, kMaxBlock));
            block = std::max(std::min(kMinBlock, minimum - warmup.repetitions),
                             warmup.repetitions_within(protocol.plan.slot_ns / 4, block_limit));
        }
        done = broadcast_from_root(harness, done);
        block = broadcast_from_root(harness, block);
    }
    return broadcast_from_root(harness, warmup);
}

Batch find_batch(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol) {
    const auto wanted = kReadingsPerSample * protocol.timer_ns;
    for (Batch batch{1, 0};;) {
        const Synchronization sync{.batch = batch.calls};
        const Block timed = run_block(harness, operation, buffers, kMaxBlock, sync);
        batch.each_ns =
            broadcast_from_root(harness, std::max<std::int64_t>(1, median_of(timed.times(&Repetition::completion))));
        if (broadcast_from_root(harness, batch.each_ns >= wanted)) return batch;
        const auto enough = (batch.calls * wanted + batch.each_ns - 1) / batch.each_ns;
        batch.calls = broadcast_from_root(harness, std::max(batch.calls + 1, static_cast<int>(enough)));
    }
}

std::string measure_as_osu(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
                           const CellPlan& cell) {
    constexpr int kLargeBytes = 8192;  // above it OSU's benchmarks run fewer iterations
    const OsuLoop& loop = operation.osu_loop();
    const bool large = cell.message_bytes > kLargeBytes;
    const int warmup = protocol.plan.warmup.value_or(large ? loop.large_warmup : loop.warmup);
    const int repetitions = protocol.plan.repetitions.value_or(large ? loop.large_repetitions : loop.repetitions);
    const auto run = [&](int calls) {
        MPI_Barrier(operation.comm());
        if (loop.timed_as_one) return run_block(harness, operation, buffers, 1, {.batch = calls});
        return run_osu_block(harness, operation, buffers, calls);
    };
    if (warmup > 0) run(warmup);
    Samples samples;
    samples.take(run(repetitions));
    const auto messages = operation.messages_per_call() * (loop.timed_as_one ? repetitions : 1);
    return describe(samples, {warmup, "mpi_barrier", "repetitions", true, messages});
}

}  // namespace timpani
