#pragma once

#include <mpi.h>

#include "measure/cell/timed_block.hpp"

namespace timpani {

/// The value that rank 0 has; collective.
template <typename Value>
Value broadcast_from_root(const Harness& harness, Value value) {
    MPI_Bcast(&value, sizeof value, MPI_BYTE, 0, harness.comm);
    return value;
}

}  // namespace timpani
