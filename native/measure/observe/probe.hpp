#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/topology.hpp"
#include "execute/shared_window.hpp"
#include "measure/clock/local_clock.hpp"

namespace timpani {

/// A look at the state that the machine is in, some 20 µs long: how far ranks that share memory are from each other,
/// and nodes. Virtual cores move, frequencies and the ways through a network change, and every cell with them.
///
/// Ranks are taken by twos in the order of a node's ranks, and the first ranks of nodes by twos in the order of nodes;
/// who is left over takes no part.
class Probe {
  public:
    /// Collective over `comm`, which outlives the probe and carries no other message of its tag meanwhile. Where ranks
    /// of a node can't share memory, they are not looked at.
    Probe(MPI_Comm comm, const Topology& topology);

    /// Collective. At rank 0, one way from one rank to the other and each pair's median, nanoseconds: those in nodes by
    /// their lower rank, then those between nodes. Empty elsewhere.
    [[nodiscard]] std::vector<std::int64_t> one_way_ns(const LocalClock& clock) const;

  private:
    struct Partner {
        int rank = -1;  // −1: none
        bool begins = false;
    };
    [[nodiscard]] std::int64_t pass_cache_line(const LocalClock& clock) const;
    [[nodiscard]] std::int64_t pass_message(const LocalClock& clock) const;

    MPI_Comm comm_;
    int rank_;
    int ranks_;
    Partner in_node_;
    Partner between_nodes_;
    std::unique_ptr<SharedWindow> window_;
    std::byte* line_ = nullptr;  // of this rank's pair
};

}  // namespace timpani
