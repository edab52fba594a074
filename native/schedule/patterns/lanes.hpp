#pragma once

#include <algorithm>
#include <string_view>

#include "schedule/arithmetic.hpp"
#include "schedule/parameters.hpp"
#include "schedule/patterns/hierarchy.hpp"

namespace timpani {

constexpr std::string_view kFullLaneSource = "Träff, Hunold, CLUSTER 2020";
constexpr Parameter kLanes{"lanes", 0, 0, "ranks of each node that exchange with other nodes; 0: all that each has"};

/// 32 KiB is a message that MPI libraries send eagerly over TCP, so that a segment never waits for its receiver.
constexpr Parameter kLaneSegments{"segment_bytes", 32768, 0, "bytes of a message between nodes; 0: no segments"};

/// Lanes, as Träff and Hunold call them: lane l is the ranks with local rank l of all nodes. Each lane carries its own
/// part of the data between nodes, all at the same time, so that several ranks drive each node's link. There are no
/// more lanes than the smallest node has ranks. Nodes are in order of position: group after group, from the root's on.
struct Lanes {
    Hierarchy hierarchy;
    int number;

    /// As many lanes as `wanted`, or as there can be if that is fewer or `wanted` is 0.
    Lanes(const CollectiveArguments& args, std::int64_t wanted)
        : hierarchy(args), number(args.topology->max_ranks_per_node()) {
        for (int node = 0; node < hierarchy.nodes(); ++node) number = std::min(number, hierarchy.ranks_on(node));
        if (wanted > 0) number = static_cast<int>(std::min<std::int64_t>(wanted, number));
    }

    /// The rank of a lane on the node at a position; positions wrap round.
    [[nodiscard]] int rank_at(int position, int lane) const {
        return hierarchy.rank_at(hierarchy.node_at_position((position + hierarchy.nodes()) % hierarchy.nodes()), lane);
    }

    /// A lane's part of a vector, or of a segment of it.
    [[nodiscard]] Region part(const Region& whole, int lane) const {
        const Part part = part_of(whole.count, number, lane);
        return {whole.buffer, whole.first + part.first, part.count};
    }
};

/// Where a rank is in the lanes.
struct LanePlace {
    int node;      // its number in the topology
    int position;  // of its node among all
    int local;     // local rank: its lane, if there are so many
    int size;      // ranks on the node

    LanePlace(const Lanes& lanes, int rank)
        : node(lanes.hierarchy.topology().node_of(rank)),
          position(lanes.hierarchy.position_of_node(node)),
          local(lanes.hierarchy.local_rank(rank)),
          size(lanes.hierarchy.ranks_on(node)) {}
};

}  // namespace timpani
