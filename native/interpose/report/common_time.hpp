#pragma once

#include <cstdint>

#include "measure/clock/global_clock.hpp"

namespace timpani {

/// One time for all ranks of a program, from its start to its end.
struct CommonTime {
    ClockLine line;             // of this rank
    int clocks = 1;             // number of different clocks
    std::int64_t error_ns = 0;  // at rank 0: the maximum over all ranks
};

/// Collective, when the program ends. Different clocks were synchronized at the start and are synchronized again now;
/// each is assumed to drift evenly in between. If the drift changes steadily instead, the line is wrong by at most a
/// quarter of the first synchronization's error for now. This is added to the error of the messages.
CommonTime agree_on_time(MPI_Comm comm, GlobalClock& clock);

}  // namespace timpani
