#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "measure/cell/cell_calls.hpp"
#include "measure/cell/harness.hpp"
#include "measure/cell/samples.hpp"
#include "measure/cell/timed_block.hpp"

namespace timpani {

/// A cell that is ready to be interleaved with the others of its point. Every rank has one; only rank 0 has samples.
struct Competitor {
    int id = 0;
    std::unique_ptr<Operation> operation;
    Synchronization sync;
    Warmup warmup;
    Samples samples;
    /// Of the bursts' completions, without settling calls; 0 if no call of a burst is valid.
    std::vector<double> burst_midmeans;
    /// Its time over the geometric mean of the competitors still measured, averaged over rounds; 0: no valid round.
    double relative = 0;
    double relative_error = 0;  // standard error of its logarithm, from the variance over rounds; 0: too few rounds
    bool lost = false;          // whether it is no longer measured

    /// How the ranks are synchronized before each repetition, as the record names it.
    [[nodiscard]] std::string_view start() const;
};

/// Collective. Ranks enter with `lateness`, which outlives the competitor. Warms the operation up and chooses how its
/// calls start. If they follow each other without a pause, also chooses how many make a sample.
Competitor make_competitor(const Harness& harness, const CellPlan& cell, std::unique_ptr<Operation> operation,
                           Buffers& buffers, const Protocol& protocol, InjectedLateness& lateness);

enum class StopReason : int { none, precision, rounds, repetitions, time_limit, lost };

/// The order of bursts. The same seed on every rank gives the same order.
using Shuffler = std::mt19937_64;

/// Collective. Measures competitors interleaved, in rounds. In a round each competitor runs a burst of about 20 calls,
/// and each round draws a new order. So compared calls are milliseconds apart and share the state of the machine. The
/// rounds end for all competitors together, at the first of these:
///
/// - the plan's precision is reached for each competitor's median and for its time relative to the others,
/// - `rounds` rounds, if set,
/// - the plan's number of repetitions, or a thousand,
/// - the time limit.
///
/// If the plan sets a factor by which a competitor loses, a competitor that is significantly slower than the fastest by
/// more than that factor is no longer measured. The rules above then ignore it.
///
/// The first tenth of a burst (two calls of 20) finds the caches as the previous competitor left them, so these calls
/// are recorded separately. `under_way` gets the competitor that is being called, on every rank.
StopReason interleave(const Harness& harness, std::span<Competitor> competitors, Buffers& buffers,
                      const Protocol& protocol, std::optional<int> rounds, Shuffler& shuffler,
                      const std::function<void(int)>& under_way);

}  // namespace timpani
