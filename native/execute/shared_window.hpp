#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "collectives/topology.hpp"

namespace timpani {

/// Ranks of one node can't share memory: the library has no such windows here, or MPI says that they share none.
struct NoSharedMemory : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Memory that all ranks of a node read and write: an MPI window, one for each node of the communicator. Made and freed
/// by all ranks together.
class SharedWindow {
  public:
    /// Throws NoSharedMemory, on all ranks alike.
    SharedWindow(MPI_Comm comm, const Topology& topology, std::int64_t bytes);
    ~SharedWindow();
    SharedWindow(const SharedWindow&) = delete;
    SharedWindow& operator=(const SharedWindow&) = delete;

    [[nodiscard]] std::byte* base() const { return base_; }
    /// A memory barrier: ranks that sync after a message that was sent after this sync see what was written before it.
    /// MPI's error code.
    int sync() { return PMPI_Win_sync(window_); }

  private:
    [[nodiscard]] bool allocate(MPI_Comm node_comm, std::int64_t bytes);

    MPI_Win window_ = MPI_WIN_NULL;
    std::byte* base_ = nullptr;
};

}  // namespace timpani
