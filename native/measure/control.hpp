#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace timpani {

using Controls = std::vector<std::pair<std::string, int>>;

/// Writes integer MPI_T control variables, the same on every rank. Throws std::runtime_error naming the variable.
void write_controls(const Controls& controls);

/// Communicators of the world's ranks, one per setting of the controls: Open MPI's `tuned` component reads its
/// variables whenever a communicator is created, so that many algorithms run in one launch.
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
