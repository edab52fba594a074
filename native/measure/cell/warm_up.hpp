#pragma once

#include <cstdint>

#include "measure/cell/protocol.hpp"
#include "measure/cell/timed_block.hpp"

namespace timpani {

/// Results of the calls before a cell's timed ones.
struct Warmup {
    int repetitions = 0;
    std::int64_t each_ns = 0;        // wall time of one repetition and its start
    std::int64_t root_ahead_ns = 0;  // time for which other ranks are busy after the root has finished

    /// How many repetitions fit into `available_ns`: between 1 and `maximum`.
    [[nodiscard]] int repetitions_within(std::int64_t available_ns, int maximum) const;
};

/// Collective. Runs the plan's number of calls if it sets one. Otherwise it runs at least 10 calls and 0.5 ms, then
/// continues until the median of a block lies in the confidence interval of the previous block's median. For a slow
/// operation the time limit ends it.
Warmup warm_up(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
               const Synchronization& sync);

/// Calls that share one sample, and the time that they take together.
struct Batch {
    int calls;
    std::int64_t each_ns;
};

/// Collective. The minimum number of calls that take 50 times as long as reading the clock, so reading it hardly adds
/// to the sample. Only for calls that follow each other without a pause.
Batch find_batch(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol);

}  // namespace timpani
