#pragma once

#include <mpi.h>

#include <string>

#include "measure/cell/buffers.hpp"
#include "measure/observe/tool_interface.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Counts what this rank sends to each other, through Open MPI's monitoring component (`pml_monitoring_enable 1`) and
/// its MPI_T performance variables.
class MessageCounter {
  public:
    /// `comm` has all ranks of MPI_COMM_WORLD. Throws std::runtime_error where the library has no such variables.
    explicit MessageCounter(MPI_Comm comm) : comm_(comm), sent_(MPI_COMM_WORLD) {}

    /// Collective over `comm`. Calls the operation twice, since the first call on a communicator may include its own
    /// set-up, and counts the second. At rank 0 `{"messages":[[…],…],"bytes":[[…],…]}` with a row per sender.
    std::string count(Operation& operation, Buffers& buffers);

  private:
    MPI_Comm comm_;
    SentSoFar sent_;
};

}  // namespace timpani
