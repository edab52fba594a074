#pragma once

#include "execute/execution.hpp"
#include "interpose/communicator/communicator.hpp"

namespace timpani {

/// Runs a collective that moves data by `execution`, which moves bytes. Returns MPI's error code.
int move_data(const InterceptedCall& call, const Communicator& communicator, Execution& execution);

}  // namespace timpani
