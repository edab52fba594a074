#pragma once

#include <mpi.h>

#include <map>
#include <string>

#include "measure/files/plan.hpp"

namespace timpani {

/// Holds integer MPI_T control variables at the values asked for, the same on every rank, and puts back what they were.
/// Throws std::runtime_error naming the variable that can't be set.
class ScopedControls {
  public:
    explicit ScopedControls(const Controls& controls);
    ~ScopedControls();
    ScopedControls(const ScopedControls&) = delete;
    ScopedControls& operator=(const ScopedControls&) = delete;

  private:
    Controls before_;
};

/// Communicators of the world's ranks, one per setting of the controls: Open MPI's `tuned` component reads most of its
/// variables whenever a communicator is created, so that many algorithms run in one launch. What it reads at each call,
/// such as a tree's radix, is an operation's own controls besides.
class ControlledCommunicators {
  public:
    explicit ControlledCommunicators(MPI_Comm world) : world_(world) {}
    ~ControlledCommunicators();
    ControlledCommunicators(const ControlledCommunicators&) = delete;
    ControlledCommunicators& operator=(const ControlledCommunicators&) = delete;

    /// Collective over the world. The communicator that was created under `controls`.
    MPI_Comm get(const Controls& controls);

  private:
    MPI_Comm world_;
    std::map<Controls, MPI_Comm> communicators_;
};

}  // namespace timpani
