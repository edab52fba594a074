#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/topology.hpp"
#include "json/json.hpp"
#include "measure/cell/buffers.hpp"
#include "measure/cell/count_messages.hpp"
#include "measure/cell/protocol.hpp"
#include "measure/cell/timed_block.hpp"
#include "measure/files/plan.hpp"
#include "measure/files/record.hpp"
#include "measure/launch/rival.hpp"
#include "measure/launch/take_turns.hpp"
#include "measure/observe/control.hpp"
#include "measure/observe/machine_activity.hpp"
#include "measure/observe/probe.hpp"

namespace timpani {

/// One start of the measuring program: what all cells of its plan are measured with. Every call is collective.
class Launch {
  public:
    /// Synchronizes the harness's clock where cells are timed. `record` is nullptr but at rank 0; all three outlive the
    /// launch. Throws std::runtime_error where the plan asks for what the library or these ranks don't have.
    Launch(const Plan& plan, const Harness& harness, const Record* record);

    /// Says in the record where the ranks run and what measuring costs here.
    void begin();
    /// Measures the cells of a point in turn: for each a line that names it while it is made ready, and one with what
    /// came of it.
    void measure(const Point& point);
    /// Says that no cell is missing, and what else kept the machines busy since the launch was made.
    void end();

  private:
    [[nodiscard]] std::int64_t null_ns();
    /// A cell as what is measured in turn, or nothing where it is over already: it failed, or wasn't to be timed so.
    std::optional<Rival> begin_cell(const CellPlan& cell, Lateness& lateness);
    /// How late ranks enter the calls of a point, with the time of the library's call where its pattern asks.
    Lateness lateness_of(const Point& point);
    /// Median completion of the library's default call of a cell's collective, which ranks enter together; nanoseconds.
    std::int64_t library_call_ns(const CellPlan& cell);
    /// Of the point that began at `begin`, on the harness's clock.
    void measure_in_turn(std::span<Rival> rivals, const Point& point, std::int64_t begin);
    /// Adds what came of a cell: why it failed, if `plan_`'s rules were not followed, or else `measured`.
    void add_outcome(JsonObject& line, const std::string& operation, const std::string& measured);
    /// Whether an operation can take turns with others in the same buffers, in a point of so many rivals: each rank's
    /// are equally large, and what all rivals hold at once fits into memory. Collective.
    [[nodiscard]] bool fits_beside(const Operation& operation, std::span<const Rival> others, std::size_t rivals) const;
    [[nodiscard]] std::vector<std::int64_t> probe() const;
    void under_way(int cell) const {
        if (record_ != nullptr) record_->under_way(cell);
    }
    void write(const std::string& line) const {
        if (record_ != nullptr) record_->line(line);
    }

    MachineActivity activity_;
    const Plan& plan_;
    const Harness& harness_;
    const Record* record_;
    Topology topology_;
    Protocol protocol_;
    Buffers buffers_;
    ControlledCommunicators communicators_;
    std::unique_ptr<MessageCounter> counter_;  // where messages are counted
    std::unique_ptr<Probe> probe_;             // where the plan asks for one
    Shuffler shuffler_;
};

}  // namespace timpani
