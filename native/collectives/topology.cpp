#include "collectives/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace timpani {

Topology::Topology(std::span<const int> node_of_rank, std::span<const int> group_of_rank, std::vector<Seat> seats)
    : seats_(std::move(seats)) {
    for (const Seat& seat : seats_) max_sockets_ = std::max(max_sockets_, seat.socket + 1);
    std::unordered_map<int, int> nodes;
    std::unordered_map<int, int> groups;
    for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
        const auto [node, first_seen] = nodes.try_emplace(node_of_rank[rank], static_cast<int>(nodes.size()));
        if (first_seen) {
            const auto group = groups.try_emplace(group_of_rank[rank], static_cast<int>(groups.size())).first->second;
            nodes_of_.resize(groups.size());
            auto& members = nodes_of_[static_cast<std::size_t>(group)];
            group_of_.push_back(group);
            place_in_group_.push_back(static_cast<int>(members.size()));
            members.push_back(node->second);
            ranks_of_.emplace_back();
        }
        auto& members = ranks_of_[static_cast<std::size_t>(node->second)];
        node_of_.push_back(node->second);
        place_of_.push_back(static_cast<int>(members.size()));
        members.push_back(static_cast<int>(rank));
        max_ranks_ = std::max(max_ranks_, static_cast<int>(members.size()));
    }
}

Topology Topology::even(int ranks, int nodes, int groups, Order order, NodeParts parts) {
    std::vector<int> node_of_rank;
    std::vector<int> group_of_rank;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const std::int64_t node = order == Order::round_robin ? rank % nodes : rank * nodes / ranks;
        node_of_rank.push_back(static_cast<int>(node));
        group_of_rank.push_back(static_cast<int>(node * groups / nodes));
    }
    Topology found(node_of_rank, group_of_rank);
    found.parts_ = parts;
    return found;
}

}  // namespace timpani
