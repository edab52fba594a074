#pragma once

#include <cstdint>
#include <vector>

#include "schedule/algorithm.hpp"

namespace timpani {

/// What things take under Hockney's model, in whatever unit of time the caller likes: a message of n bytes α + β·n, a
/// reduction of n bytes γ·n. Copies are free. α = 1, β = γ = 0 is the unit clock: a message takes one tick.
struct Costs {
    double alpha = 1;
    double beta = 0;   // per byte
    double gamma = 0;  // per byte
};

/// One step as it happened. A message is two events with the same times: its sender's and its receiver's.
struct Event {
    int rank;
    std::int64_t round;
    Step step;
    double start;
    double end;
};

/// Runs a schedule on a clock, all ranks beginning at 0. The events stand rank by rank in the order of their steps.
///
/// A rank issues its steps in order. A step waits for the earlier ones that it depends on, and for the oldest
/// message where the algorithm bounds how many there are, as in execute/program.hpp. A rank sends one message at a time
/// and receives one at a time, both at once if need be; a message flows when both sides have posted it and both are
/// free, the earliest first. Nothing is buffered: a send ends with its receive.
///
/// Throws std::runtime_error where ranks wait for each other for ever.
std::vector<Event> simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs);

/// When the last rank is done.
double completion(const std::vector<Event>& events);

}  // namespace timpani
