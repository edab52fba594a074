#pragma once

#include <algorithm>
#include <string_view>

#include "schedule/arithmetic.hpp"
#include "schedule/hierarchy.hpp"
#include "schedule/parameters.hpp"

namespace timpani {

constexpr std::string_view kFullLaneSource = "Träff, Hunold, CLUSTER 2020";
constexpr Parameter kLanes{"lanes", 0, 0, "ranks of each node that exchange with other nodes; 0: all that each has"};

/// 32 KiB is what MPI libraries send over TCP without asking first, so that a segment never waits for its receiver.
constexpr Parameter kLaneSegments{"segment_bytes", 32768, 0, "bytes of a message between nodes; 0: no segments"};

/// Ranks of several nodes that exchange their share of the data at the same time: lane l holds the rank at place l of
/// each node, and there are no more lanes than the smallest node has ranks. Nodes follow each other group after group,
/// the root's first.
struct Lanes {
    Hierarchy hierarchy;
    int number;

    /// `wanted` 0: as many as can be.
    Lanes(const Shape& shape, std::int64_t wanted) : hierarchy(shape), number(shape.topology->most_ranks_on_a_node()) {
        for (int node = 0; node < hierarchy.nodes(); ++node) number = std::min(number, hierarchy.ranks_on(node));
        if (wanted > 0) number = static_cast<int>(std::min<std::int64_t>(wanted, number));
    }

    /// The rank of a lane on the node at a place among all, places counted round.
    [[nodiscard]] int at(int place, int lane) const {
        return hierarchy.rank_at(hierarchy.node_at_position((place + hierarchy.nodes()) % hierarchy.nodes()), lane);
    }

    /// A lane's part of a vector, or of a segment of it.
    [[nodiscard]] Region part(const Region& whole, int lane) const {
        const Part part = part_of(whole.count, number, lane);
        return {whole.buffer, whole.first + part.first, part.count};
    }
};

/// One rank's place in all that.
struct LanePlace {
    int node;      // its number in the topology
    int position;  // of the node among all, from the root's on
    int local;     // on the node: the lane where there are so many
    int size;      // ranks on the node

    LanePlace(const Lanes& lanes, int rank)
        : node(lanes.hierarchy.topology().node_of(rank)),
          position(lanes.hierarchy.position_of_node(node)),
          local(lanes.hierarchy.local_rank(rank)),
          size(lanes.hierarchy.ranks_on(node)) {}
};

}  // namespace timpani
