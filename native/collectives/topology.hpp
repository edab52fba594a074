#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace timpani {

/// Which ranks share a node, and which nodes a group (behind one switch). Nodes and groups are numbered from 0 in the
/// order of their lowest ranks.
class Topology {
  public:
    /// The node and the group of each rank, in any numbers. Ranks of one node that name several groups are in that of
    /// the lowest of them.
    Topology(std::span<const int> node_of_rank, std::span<const int> group_of_rank);

    /// Equal nodes in equal groups, as far as the numbers allow: each filled in turn, or ranks dealt out one a node.
    enum class Order : std::uint8_t { node_by_node, round_robin };
    static Topology even(int ranks, int nodes, int groups, Order order);

    [[nodiscard]] int ranks() const { return static_cast<int>(node_of_.size()); }
    [[nodiscard]] int nodes() const { return static_cast<int>(ranks_of_.size()); }
    [[nodiscard]] int groups() const { return static_cast<int>(nodes_of_.size()); }
    [[nodiscard]] int most_ranks_on_a_node() const { return most_ranks_; }

    [[nodiscard]] int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] int group_of(int node) const { return group_of_[static_cast<std::size_t>(node)]; }
    /// Ascending.
    [[nodiscard]] std::span<const int> ranks_of(int node) const { return ranks_of_[static_cast<std::size_t>(node)]; }
    [[nodiscard]] std::span<const int> nodes_of(int group) const { return nodes_of_[static_cast<std::size_t>(group)]; }
    /// The place of a rank among its node's, and of a node among its group's.
    [[nodiscard]] int place_of(int rank) const { return place_of_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] int place_in_group(int node) const { return place_in_group_[static_cast<std::size_t>(node)]; }

  private:
    std::vector<int> node_of_;
    std::vector<int> group_of_;
    std::vector<std::vector<int>> ranks_of_;
    std::vector<std::vector<int>> nodes_of_;
    std::vector<int> place_of_;
    std::vector<int> place_in_group_;
    int most_ranks_ = 0;
};

}  // namespace timpani
