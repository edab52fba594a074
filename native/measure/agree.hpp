#pragma once

#include <mpi.h>

#include "measure/timed_block.hpp"

namespace timpani {

/// Rank 0's decision, made known to all.
template <typename Value>
Value agree(const Harness& harness, Value value) {
    MPI_Bcast(&value, sizeof value, MPI_BYTE, 0, harness.comm);
    return value;
}

}  // namespace timpani
