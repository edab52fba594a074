#include "measure/cell/warm_up.hpp"

#include <algorithm>
#include <optional>

#include "measure/cell/harness.hpp"
#include "measure/cell/stop_rule.hpp"

namespace timpani {

namespace {

constexpr int kMaxBlock = 20;
constexpr int kMinWarmup = 10;
constexpr int kMinBlock = kMinWarmup / 2;
constexpr int kMinLongWarmup = 2;               // if fewer than kMinWarmup calls reach the time limit
constexpr std::int64_t kMinWarmupNs = 500'000;  // ns
constexpr std::int64_t kReadingsPerSample = 50;

}  // namespace

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

}  // namespace timpani
