#pragma once

#include <cstdint>

#include "measure/clock/global_clock.hpp"

namespace timpani {

/// One time for all ranks of a program, from its beginning to its end.
struct CommonTime {
    ClockLine line;             // of this rank
    int clocks = 1;             // that are read
    std::int64_t error_ns = 0;  // at rank 0: the largest of any rank
};

/// Collective, as the program ends. Clocks that differ were synchronized as it began and are again now; between these
/// times each is taken to drift evenly. Where the drift changes steadily instead, the line between is wrong by at most
/// a quarter of what the first synchronization predicted wrongly for now: that is added to the error of the messages.
CommonTime agree_on_time(MPI_Comm comm, GlobalClock& clock);

}  // namespace timpani
