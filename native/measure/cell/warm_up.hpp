#pragma once

#include <cstdint>

#include "measure/cell/protocol.hpp"
#include "measure/cell/timed_block.hpp"

namespace timpani {

/// What the calls before a cell's timed ones tell about it.
struct Warmup {
    int repetitions = 0;
    std::int64_t each_ns = 0;        // wall time of one repetition with its start
    std::int64_t root_ahead_ns = 0;  // how long the others are still busy when the root is done

    /// How many repetitions fit into `available_ns`, between 1 and `most`.
    [[nodiscard]] int repetitions_within(std::int64_t available_ns, int maximum) const;
};

/// Collective. The plan's number of calls where it has one. Else at least 10 calls and 0.5 ms, then until the median of
/// a block lies in the interval of the median of the one before it; a slow operation ends it at the time limit.
Warmup warm_up(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
               const Synchronization& sync);

/// Calls that share one sample, and what they take together.
struct Batch {
    int calls;
    std::int64_t each_ns;
};

/// Collective. The least number of calls that together take 50 times as long as reading the clock, so that the readings
/// are lost in what is timed. Only for calls that follow each other back to back.
Batch find_batch(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol);

}  // namespace timpani
