#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/cell/buffers.hpp"
#include "measure/cell/harness.hpp"
#include "measure/cell/timed_block.hpp"
#include "measure/observe/tool_interface.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Collective. Calls the operation once on poisoned buffers and checks every element. Returns the mistake of the lowest
/// rank that found one, or nothing, the same on every rank.
std::optional<std::string> check_result(const Harness& harness, Operation& operation, Buffers& buffers);

/// Why calls of `collective` on some rank did not follow the loaded rules since the last call of this function:
/// libtimpani.so is not loaded, or its own reason. Nothing if every call that matches a rule was replaced. Collective.
std::optional<std::string> rules_not_followed(const Harness& harness, const std::string& collective);

/// Collective. Calls the operation twice and counts the messages of the second call by `sent`, since the first call on
/// a communicator may include its setup. At rank 0 returns `{"messages":[[…],…],"bytes":[[…],…]}` with one row per
/// sender.
std::string count_messages(const Harness& harness, const SentSoFar& sent, Operation& operation, Buffers& buffers);

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

/// Collective. Measures one cell as OSU's benchmark of the operation does, with a fixed number of calls: OSU's or the
/// plan's. All point-to-point calls are timed together as one sample. At rank 0 returns the cell's record as a JSON
/// object.
std::string measure_as_osu(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
                           const CellPlan& cell);

}  // namespace timpani
