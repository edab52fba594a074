#pragma once

#include <cstdint>
#include <memory>

#include "collectives/topology.hpp"
#include "measure/buffers.hpp"
#include "measure/control.hpp"
#include "measure/count_messages.hpp"
#include "measure/machine_activity.hpp"
#include "measure/plan.hpp"
#include "measure/protocol.hpp"
#include "measure/record.hpp"
#include "measure/timed_block.hpp"

namespace timpani {

/// One start of the measuring program: what all cells of its plan are measured with. Every call is collective.
class Launch {
  public:
    /// Synchronises the harness's clock where cells are timed. `record` is nullptr but at rank 0; all three outlive the
    /// launch. Throws std::runtime_error where the plan asks for what the library or these ranks don't have.
    Launch(const Plan& plan, const Harness& harness, const Record* record);

    /// Says in the record where the ranks run and what measuring costs here.
    void begin();
    /// Measures a cell, between a line that names it and one with what came of it.
    void measure(const CellPlan& cell);
    /// Says that no cell is missing, and what else kept the machines busy since the launch was made.
    void end();

  private:
    [[nodiscard]] std::int64_t null_ns();
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
};

}  // namespace timpani
