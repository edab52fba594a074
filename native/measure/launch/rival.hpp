#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "measure/cell/protocol.hpp"
#include "measure/cell/samples.hpp"
#include "measure/cell/timed_block.hpp"
#include "measure/cell/warm_up.hpp"

namespace timpani {

/// A cell that is ready to be measured in turn with the others of its point. Every rank has one; samples at rank 0
/// only.
struct Rival {
    int id = 0;
    std::unique_ptr<Operation> operation;
    Synchronization sync;
    Warmup warmup;
    Samples samples;
    std::vector<double> burst_midmeans;  // of the bursts' completions, settling calls left out; 0 where none was valid
    double relative = 0;  // its time over the geometric mean of those that didn't lose, round by round; 0: none tells
    double relative_error = 0;  // standard error of its logarithm, by how rounds differ; 0: too few tell
    bool lost = false;          // whether it gets no more turns

    /// How the ranks are synchronized before each repetition, as the record names it.
    [[nodiscard]] std::string_view start() const;
};

/// Collective. Ranks enter with `lateness`, which outlives the rival. Warms the operation up and finds how its calls
/// are started and, where they follow each other back to back, how many make a sample.
Rival make_rival(const Harness& harness, const CellPlan& cell, std::unique_ptr<Operation> operation, Buffers& buffers,
                 const Protocol& protocol, Lateness& lateness);

}  // namespace timpani
