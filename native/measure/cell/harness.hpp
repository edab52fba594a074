#pragma once

#include <mpi.h>

#include "measure/clock/global_clock.hpp"

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

}  // namespace timpani
