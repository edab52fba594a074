#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "collectives/topology.hpp"

namespace timpani {

/// Ranks of one node can't share memory: the library has no such windows, or MPI reports that the ranks share no
/// memory.
struct NoSharedMemory : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Memory that all ranks of a node read and write: an MPI window, one for each node of the communicator. All ranks
/// construct and destroy it together.
class SharedWindow {
  public:
    /// Throws NoSharedMemory on all ranks, or on no rank.
    SharedWindow(MPI_Comm comm, const Topology& topology, std::int64_t bytes);
    ~SharedWindow();
    SharedWindow(const SharedWindow&) = delete;
    SharedWindow& operator=(const SharedWindow&) = delete;

    [[nodiscard]] std::byte* base() const { return base_; }
    /// A memory barrier. A rank that calls sync after receiving a message sees what its sender wrote before it called
    /// sync and sent the message. Returns MPI's error code.
    int sync() { return PMPI_Win_sync(window_); }

  private:
    [[nodiscard]] bool allocate(MPI_Comm node_comm, std::int64_t bytes);

    MPI_Win window_ = MPI_WIN_NULL;
    std::byte* base_ = nullptr;
};

}  // namespace timpani
