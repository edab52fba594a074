#pragma once

#include <mpi.h>

#include <cstdint>

#include "measure/clock/global_clock.hpp"
#include "measure/files/plan.hpp"

namespace timpani {

/// The ranks that measure, and the harness's private communicator.
struct Harness {
    MPI_Comm comm;
    int rank;
    int size;
    GlobalClock& clock;
};

/// The value at rank 0. Collective.
template <typename Value>
Value broadcast_from_root(const Harness& harness, Value value) {
    MPI_Bcast(&value, sizeof value, MPI_BYTE, 0, harness.comm);
    return value;
}

/// How the cells of a launch are measured.
struct Protocol {
    const Plan& plan;
    std::int64_t broadcast_ns;  // time of the harness's broadcast, the unit of Round-Time's slack
    std::int64_t timer_ns;      // time to read the clock
};

}  // namespace timpani
