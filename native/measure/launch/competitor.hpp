#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "measure/cell/protocol.hpp"
#include "measure/cell/samples.hpp"
#include "measure/cell/timed_block.hpp"
#include "measure/cell/warm_up.hpp"

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

}  // namespace timpani
