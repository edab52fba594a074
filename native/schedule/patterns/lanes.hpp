#pragma once

#include <algorithm>
#include <string_view>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/hierarchy.hpp"

namespace timpani {

constexpr std::string_view kFullLaneSource = "Träff, Hunold, CLUSTER 2020";
constexpr Parameter kLanes{"lanes", 0, 0, "ranks of each node that exchange with other nodes; 0: all that each has"};

/// MPI libraries send 32 KiB eagerly over TCP, so a segment never waits for its receiver.
constexpr Parameter kLaneSegments{"segment_bytes", 32768, 0, "bytes of a message between nodes; 0: no segments"};

/// Lanes, as Träff and Hunold call them: lane l is the ranks with local rank l on all nodes. Each lane carries its own
/// part of the data between nodes, all at the same time, so several ranks drive each node's link. The smallest node
/// limits the number of lanes. Nodes are ordered by position: group after group, the root's first.
struct Lanes {
    Hierarchy hierarchy;
    int number;

    /// `wanted` lanes, or the maximum if `wanted` is larger or 0.
    Lanes(const CollectiveArguments& args, std::int64_t wanted)
        : hierarchy(args), number(args.topology->max_ranks_per_node()) {
        for (int node = 0; node < hierarchy.nodes(); ++node) number = std::min(number, hierarchy.ranks_on(node));
        if (wanted > 0) number = static_cast<int>(std::min<std::int64_t>(wanted, number));
    }

    /// The rank of a lane on the node at a position; positions wrap around.
    [[nodiscard]] int rank_at(int position, int lane) const {
        return hierarchy.rank_at(hierarchy.node_at_position((position + hierarchy.nodes()) % hierarchy.nodes()), lane);
    }

    /// A lane's part of a vector or of a segment.
    [[nodiscard]] Region part(const Region& whole, int lane) const {
        return region(whole, part_of(whole.count, number, lane));
    }
};

/// The position of a rank in the lanes.
struct LanePlace {
    int node;      // the node's number in the topology
    int position;  // of the node among all
    int local;     // local rank, which is its lane if it has one
    int size;      // ranks on the node

    LanePlace(const Lanes& lanes, int rank)
        : node(lanes.hierarchy.topology().node_of(rank)),
          position(lanes.hierarchy.position_of_node(node)),
          local(lanes.hierarchy.local_rank(rank)),
          size(lanes.hierarchy.ranks_on(node)) {}
};

}  // namespace timpani
