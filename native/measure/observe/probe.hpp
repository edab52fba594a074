#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/topology.hpp"
#include "execute/shared_window.hpp"
#include "measure/clock/local_clock.hpp"

namespace timpani {

/// A probe of the machine's state, which takes about 20 µs: the message times between ranks that share memory, and
/// between nodes. Virtual cores move, and frequencies and routes through a network change; every cell's times change
/// with them.
///
/// Pairs are formed from neighbors in the order of a node's ranks, and from the nodes' first ranks in the order of
/// nodes. A rank that remains has no partner.
class Probe {
  public:
    /// Collective over `comm`, which outlives the probe and carries no other messages with its tag meanwhile. If the
    /// ranks of a node can't share memory, they are not probed.
    Probe(MPI_Comm comm, const Topology& topology);

    /// Collective. At rank 0, the median one-way time of each pair in nanoseconds: first pairs inside nodes, by lower
    /// rank, then pairs of nodes. Empty at other ranks.
    [[nodiscard]] std::vector<std::int64_t> one_way_ns(const LocalClock& clock) const;

  private:
    struct Partner {
        int rank = -1;  // −1: no partner
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
