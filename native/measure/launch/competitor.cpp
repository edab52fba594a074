#include "measure/launch/competitor.hpp"

#include <utility>

namespace timpani {

std::string_view Competitor::start() const {
    if (sync.batch > 0) return operation->synchronized_by();
    return sync.slack_ns > 0 ? "round_time" : "barrier";
}

Competitor make_competitor(const Harness& harness, const CellPlan& cell, std::unique_ptr<Operation> operation,
                           Buffers& buffers, const Protocol& protocol, InjectedLateness& lateness) {
    Competitor competitor;
    competitor.id = cell.id;
    competitor.operation = std::move(operation);
    Operation& called = *competitor.operation;
    // In other cache modes, work between calls would delay the partner unnoticed, so calls need a synchronized start.
    const bool back_to_back = !called.synchronized_by().empty() && cell.mode == CacheMode::warm;
    competitor.sync.batch = back_to_back ? 1 : 0;
    competitor.sync.lateness = &lateness;
    competitor.warmup = warm_up(harness, called, buffers, protocol, competitor.sync);
    if (back_to_back && !protocol.plan.repetitions) {
        const Batch batch = find_batch(harness, called, buffers, protocol);
        competitor.sync.batch = batch.calls;
        competitor.warmup.each_ns = batch.each_ns;  // without the sleep of idle ranks after each block
    } else if (!back_to_back && protocol.plan.start == Start::round_time) {
        // The slack covers the time until the deadline reaches the last rank, and the work that other ranks still do
        // when the root has finished.
        competitor.sync.slack_ns = 2 * protocol.broadcast_ns + 2 * competitor.warmup.root_ahead_ns;
    }
    return competitor;
}

}  // namespace timpani
