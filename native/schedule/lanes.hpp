#pragma once

#include <algorithm>
#include <string_view>

#include "schedule/arithmetic.hpp"
#include "schedule/parameters.hpp"
#include "schedule/teams.hpp"

namespace timpani {

constexpr std::string_view kFullLaneSource = "Träff, Hunold, CLUSTER 2020";
constexpr Parameter kLanes{"lanes", 0, 0, "ranks of each node that exchange with other nodes; 0: all that each has"};

/// 32 KiB is what MPI libraries send over TCP without asking first, so that a segment never waits for its receiver.
constexpr Parameter kLaneSegments{"segment_bytes", 32768, 0, "bytes of a message between nodes; 0: no segments"};

/// Ranks of several nodes that exchange their share of the data at the same time: lane l holds the rank at place l of
/// each node, and there are no more lanes than the smallest node has ranks. Nodes follow each other group after group,
/// the root's first.
struct Lanes {
    Teams teams;
    int number;

    /// `wanted` 0: as many as can be.
    Lanes(const Shape& shape, std::int64_t wanted) : teams(shape), number(shape.topology->most_ranks_on_a_node()) {
        for (int node = 0; node < teams.nodes(); ++node) number = std::min(number, teams.ranks_on(node));
        if (wanted > 0) number = static_cast<int>(std::min<std::int64_t>(wanted, number));
    }

    /// The rank of a lane on the node at a place among all, places counted round.
    [[nodiscard]] int at(int place, int lane) const {
        return teams.rank_at(teams.node_among_all((place + teams.nodes()) % teams.nodes()), lane);
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
        : node(lanes.teams.topology().node_of(rank)),
          position(lanes.teams.place_among_all(node)),
          local(lanes.teams.place_on_node(rank)),
          size(lanes.teams.ranks_on(node)) {}
};

}  // namespace timpani
