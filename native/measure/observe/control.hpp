#pragma once

#include <mpi.h>

#include <map>
#include <string>

#include "collectives/collective.hpp"

namespace timpani {

/// Sets integer MPI_T control variables, the same on every rank, and restores their values when destroyed. Throws
/// std::runtime_error that names the variable that can't be set.
class ScopedControls {
  public:
    explicit ScopedControls(const Controls& controls);
    ~ScopedControls();
    ScopedControls(const ScopedControls&) = delete;
    ScopedControls& operator=(const ScopedControls&) = delete;

  private:
    ScopedControls() = default;
    Controls before_;
};

/// Communicators of the same ranks, one per setting of the control variables. Open MPI's `tuned` component reads
/// most of its variables when a communicator is created. Thus one launch can run many algorithms. Variables that it
/// reads at each call, such as a tree's radix, are the operation's controls.
class ControlledCommunicators {
  public:
    explicit ControlledCommunicators(MPI_Comm parent) : parent_(parent) {}
    ~ControlledCommunicators();
    ControlledCommunicators(const ControlledCommunicators&) = delete;
    ControlledCommunicators& operator=(const ControlledCommunicators&) = delete;

    /// Collective. The communicator created under `controls`, which returns errors.
    MPI_Comm get(const Controls& controls);

  private:
    MPI_Comm parent_;
    std::map<Controls, MPI_Comm> communicators_;
};

}  // namespace timpani
