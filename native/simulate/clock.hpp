#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "schedule/algorithm.hpp"
#include "simulate/costs.hpp"

namespace timpani {

/// One step with its times, by its number within its rank. A message has two events with equal times: the sender's and
/// the receiver's.
struct Event {
    int rank;
    std::int64_t number;
    std::int64_t round;
    Step step;
    double start;
    double end;
};

/// The end of a posted message that never ends, since ranks wait for each other.
inline constexpr double kNeverEnds = std::numeric_limits<double>::infinity();

/// Receives each event when it ends, in unspecified order.
using EventSink = std::function<void(const Event&)>;

/// Simulates a schedule with all ranks starting at 0, and returns when the last rank is done.
///
/// A rank issues its steps in order. A step waits for the earlier steps that it depends on, and, if the algorithm
/// bounds the messages under way, for the oldest message, as in execute/program.hpp. A rank sends one message at a time
/// and receives one at a time, possibly both at once. A message flows when both sides have posted it and both ports are
/// free, the earliest first. With Costs::fair it flows together with others as soon as both sides have posted it, an
/// eager one as soon as it is sent. A send ends with its receive; the latency of an eager message passes before its
/// receive is posted, too. Events exclude Costs::rest; the time includes it.
///
/// Without a receiver of events, the time is computed by level where that is equivalent (by_level.hpp), else by events.
///
/// Throws std::runtime_error if ranks wait for each other forever. The last events are then the posted messages that
/// never end.
double simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs,
                const EventSink& sink = nullptr);

/// The method of a simulation: one rank for all equivalent ranks, level by level, or event by event.
enum class Way { one_for_all, by_level, by_events };

/// A time and its composition: the amounts paid along the critical path, Σ amount · cost = time, in the order of
/// costs.hpp; how long messages waited for busy ports; and the method.
struct Composition {
    double time;
    double waited;
    std::vector<double> amounts;
    Way way;
};

/// The result of simulate() with its composition. If `by_events`, only by events.
///
/// Also throws std::runtime_error if the costs have too many lines.
Composition compose(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs,
                    bool by_events = false);

}  // namespace timpani
