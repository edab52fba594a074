#include "measure/launch/rival.hpp"

#include <utility>

namespace timpani {

std::string_view Rival::start() const {
    if (sync.batch > 0) return operation->synchronized_by();
    return sync.slack_ns > 0 ? "round_time" : "barrier";
}

Rival make_rival(const Harness& harness, const CellPlan& cell, std::unique_ptr<Operation> operation, Buffers& buffers,
                 const Protocol& protocol, Lateness& lateness) {
    Rival rival;
    rival.id = cell.id;
    rival.operation = std::move(operation);
    Operation& called = *rival.operation;
    // What another cache mode does between calls would delay the partner unseen: then a start is needed after all.
    const bool back_to_back = !called.synchronized_by().empty() && cell.mode == CacheMode::warm;
    rival.sync.batch = back_to_back ? 1 : 0;
    rival.sync.lateness = &lateness;
    rival.warmup = warm_up(harness, called, buffers, protocol, rival.sync);
    if (back_to_back && !protocol.repetitions) {
        const Batch batch = find_batch(harness, called, buffers, protocol);
        rival.sync.batch = batch.calls;
        rival.warmup.each_ns = batch.each_ns;  // without the sleep of idle ranks after each block
    } else if (!back_to_back && protocol.start == Start::round_time) {
        // The slack covers the deadline's way to the last rank and the work that others still do when the root is done.
        rival.sync.slack_ns = 2 * protocol.broadcast_ns + 2 * rival.warmup.root_ahead_ns;
    }
    return rival;
}

}  // namespace timpani
