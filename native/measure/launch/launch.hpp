#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/topology.hpp"
#include "json/json.hpp"
#include "measure/cell/buffers.hpp"
#include "measure/cell/harness.hpp"
#include "measure/cell/timed_block.hpp"
#include "measure/files/plan.hpp"
#include "measure/files/record.hpp"
#include "measure/launch/interleave.hpp"
#include "measure/launch/make_operation.hpp"
#include "measure/observe/control.hpp"
#include "measure/observe/machine_activity.hpp"
#include "measure/observe/probe.hpp"
#include "measure/observe/tool_interface.hpp"

namespace timpani {

/// One start of the measuring program, which measures all cells of its plan. Every call is collective.
class Launch {
  public:
    /// Synchronizes the harness's clock if cells are timed. `record` is nullptr at ranks other than 0; all three
    /// arguments outlive the launch. Throws std::runtime_error if the plan requires something that the library or these
    /// ranks lack.
    Launch(const Plan& plan, const Harness& harness, const Record* record);

    /// Records where the ranks run and the overhead of measuring.
    void begin();
    /// Measures the cells of a point interleaved. Writes two lines for each cell: one that names it before it is
    /// prepared, and one with its result.
    void measure(const Point& point);
    /// Whether the plan leaves its further points to another launch, by rank 0's clock.
    [[nodiscard]] bool too_late_to_begin() const;
    /// Records that no cell is missing, and what else kept the machines busy since the constructor.
    void end();

  private:
    [[nodiscard]] std::int64_t null_ns();
    /// Prepares a cell for interleaving. Returns nothing if it is already finished: it failed, or its method doesn't
    /// interleave.
    std::optional<Competitor> begin_cell(const CellPlan& cell, InjectedLateness& lateness);
    /// The lateness of ranks in the calls of a point. Measures the library's call if the pattern is relative to it.
    InjectedLateness lateness_of(const Point& point);
    /// Median completion, in nanoseconds, of the library's default call of a cell's collective; ranks enter together.
    std::int64_t library_call_ns(const CellPlan& cell);
    /// Measures the competitors of the point that started at `begin` on the harness's clock.
    void measure_interleaved(std::span<Competitor> competitors, const Point& point, std::int64_t begin);
    /// Adds the result of a cell: why it failed, that `plan_`'s rules were not followed, or `measured`.
    void add_outcome(JsonObject& line, const std::string& operation, const std::string& measured);
    /// Whether an operation can be interleaved with others in the same buffers, at a point with that many competitors.
    /// Each rank's buffers must have the same size, and the memory of all competitors together must fit. Collective.
    [[nodiscard]] bool fits_next_to(const Operation& operation, std::span<const Competitor> others,
                                    std::size_t competitors) const;
    [[nodiscard]] std::vector<std::int64_t> probe() const;
    [[nodiscard]] CallOptions call_options() const {
        return {topology_, plan_.include_setup, plan_.root, plan_.in_place};
    }
    void under_way(int cell) const {
        if (record_ != nullptr) record_->under_way(cell);
    }
    void write(const std::string& line) const {
        if (record_ != nullptr) record_->line(line);
    }

    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    MachineActivity activity_;
    const Plan& plan_;
    const Harness& harness_;
    const Record* record_;
    Topology topology_;
    Protocol protocol_;
    Buffers buffers_;
    ControlledCommunicators communicators_;
    std::unique_ptr<SentSoFar> sent_;  // if messages are counted
    std::unique_ptr<Probe> probe_;     // if the plan asks for it
    Shuffler shuffler_;
};

}  // namespace timpani
