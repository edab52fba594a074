#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "schedule/algorithm.hpp"
#include "simulate/costs.hpp"

namespace timpani {

/// One step as it happened, by its number among those of its rank. A message is two events with the same times: its
/// sender's and its receiver's.
struct Event {
    int rank;
    std::int64_t number;
    std::int64_t round;
    Step step;
    double start;
    double end;
};

/// Told each event when it ends, in no order that could be relied on.
using Tell = std::function<void(const Event&)>;

/// Runs a schedule on a clock, all ranks beginning at 0, and returns when the last of them is done.
///
/// A rank issues its steps in order. A step waits for the earlier ones that it depends on, and for the oldest
/// message where the algorithm bounds how many there are, as in execute/program.hpp. A rank sends one message at a time
/// and receives one at a time, both at once if need be; a message flows when both sides have posted it and both ports
/// are free, the earliest first; or, with Costs::fair, as soon as both have posted it, and an eager one as soon as it
/// is sent, beside others. A send ends with its receive; where it is eager, the latency passes before that is posted,
/// too. Events know nothing of Costs::rest, which is in the time.
///
/// Without anyone to be told, the time is worked out by level where that is the same (by_level.hpp), else by events.
///
/// Throws std::runtime_error where ranks wait for each other for ever.
double simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs,
                const Tell& tell = nullptr);

/// How a time was found: one rank for all that are alike, level by level, or event by event.
enum class Way { one_for_all, by_level, by_events };

/// A time, and what it is made of: the amounts that were paid on the way to it, one behind the other, Σ amount · cost =
/// time, in the order of costs.hpp; how much of it messages waited for busy ports; and how it was found.
struct Composition {
    double time;
    double waited;
    std::vector<double> amounts;
    Way way;
};

/// What simulate() returns, and its composition. By events only where `by_events`.
///
/// Throws std::runtime_error also where the costs have too many lines.
Composition compose(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs,
                    bool by_events = false);

}  // namespace timpani
