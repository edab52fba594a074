#pragma once

#include <cstdint>
#include <functional>

#include "schedule/algorithm.hpp"

namespace timpani {

/// What things take under Hockney's model, in whatever unit of time the caller likes: a message of n bytes α + β·n, a
/// reduction of n bytes γ·n. Copies are free. α = 1, β = γ = 0 is the unit clock: a message takes one tick.
struct Costs {
    double alpha = 1;
    double beta = 0;   // per byte
    double gamma = 0;  // per byte
};

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
/// and receives one at a time, both at once if need be; a message flows when both sides have posted it and both are
/// free, the earliest first. Nothing is buffered: a send ends with its receive.
///
/// Without anyone to be told, the time is worked out by level where that is the same (by_level.hpp), else by events.
///
/// Throws std::runtime_error where ranks wait for each other for ever.
double simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs,
                const Tell& tell = nullptr);

}  // namespace timpani
