#pragma once

#include <mpi.h>

#include <string>

#include "measure/cell/buffers.hpp"
#include "measure/observe/tool_interface.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// Counts the messages that this rank sends to each other rank, with Open MPI's monitoring component
/// (`pml_monitoring_enable 1`) and its MPI_T performance variables.
class MessageCounter {
  public:
    /// `comm` has all ranks of MPI_COMM_WORLD. Throws std::runtime_error if the library lacks these variables.
    explicit MessageCounter(MPI_Comm comm) : comm_(comm), sent_(MPI_COMM_WORLD) {}

    /// Collective over `comm`. Calls the operation twice and counts the second call, since the first call on a
    /// communicator may include its setup. At rank 0 returns `{"messages":[[…],…],"bytes":[[…],…]}` with one row per
    /// sender.
    std::string count(Operation& operation, Buffers& buffers);

  private:
    MPI_Comm comm_;
    SentSoFar sent_;
};

}  // namespace timpani
