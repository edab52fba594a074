#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace timpani {

/// How close two ranks are, the closest first: the smallest part of a machine known to contain both.
enum class Relation : std::uint8_t { cache, socket, node, group, groups };
constexpr std::size_t kRelations = 5;

/// The socket and the last-level cache of a rank, numbered within its node.
struct Seat {
    int socket;
    int cache;
};

/// A node's cores, divided equally among sockets and among last-level caches, with no cache spanning two sockets; and
/// the core of each of its ranks: consecutive, or alternating between sockets. 0 cores: unknown.
struct NodeParts {
    int cores = 0;
    int sockets = 1;
    int caches = 1;
    bool dealt = false;

    /// Whether the numbers are valid for a node with room for `ranks` ranks.
    [[nodiscard]] bool hold(int ranks) const {
        return ranks <= cores && 1 <= sockets && sockets <= caches && cores % caches == 0 && caches % sockets == 0;
    }
    /// The seat of the node's rank number `place`.
    [[nodiscard]] Seat seat(int place) const {
        const int core = dealt ? place % sockets * (cores / sockets) + place / sockets : place;
        return {core / (cores / sockets), core / (cores / caches)};
    }
};

/// Which ranks share a node, and which nodes a group (behind one switch); if known, also which ranks of a node share a
/// socket and a last-level cache. Nodes and groups are numbered from 0 by their lowest rank.
class Topology {
  public:
    /// The node and the group of each rank, in any numbering. If ranks of one node name several groups, the lowest
    /// rank's counts. `seats`: of each rank, or empty if unknown.
    Topology(std::span<const int> node_of_rank, std::span<const int> group_of_rank, std::vector<Seat> seats = {});

    /// Equal nodes in equal groups, as far as possible: filled one after the other, or with consecutive ranks on
    /// consecutive nodes.
    enum class Order : std::uint8_t { node_by_node, round_robin };
    static Topology even(int ranks, int nodes, int groups, Order order, NodeParts parts = {});

    [[nodiscard]] int ranks() const { return static_cast<int>(node_of_.size()); }
    [[nodiscard]] int nodes() const { return static_cast<int>(ranks_of_.size()); }
    [[nodiscard]] int groups() const { return static_cast<int>(nodes_of_.size()); }
    [[nodiscard]] int max_ranks_per_node() const { return max_ranks_; }

    [[nodiscard]] int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] int group_of(int node) const { return group_of_[static_cast<std::size_t>(node)]; }
    /// Ascending.
    [[nodiscard]] std::span<const int> ranks_of(int node) const { return ranks_of_[static_cast<std::size_t>(node)]; }
    [[nodiscard]] std::span<const int> nodes_of(int group) const { return nodes_of_[static_cast<std::size_t>(group)]; }
    /// The index of a rank within its node, and of a node within its group.
    [[nodiscard]] int place_of(int rank) const { return place_of_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] int place_in_group(int node) const { return place_in_group_[static_cast<std::size_t>(node)]; }

    [[nodiscard]] Relation relation_of(int a, int b) const {
        const int node = node_of(a);
        const int other = node_of(b);
        if (node != other) return group_of(node) == group_of(other) ? Relation::group : Relation::groups;
        if (parts_.cores == 0 && seats_.empty()) return Relation::node;
        const Seat one = seat_of(a);
        const Seat two = seat_of(b);
        if (one.socket != two.socket) return Relation::node;
        return one.cache == two.cache ? Relation::cache : Relation::socket;
    }

    /// The memory of a rank: its socket's, or its node's if sockets are unknown; a number below memories(). Negative
    /// sockets are unknown.
    [[nodiscard]] int memory_of(int rank) const {
        const bool known = parts_.cores > 0 || !seats_.empty();
        return node_of(rank) * sockets() + (known ? std::max(0, seat_of(rank).socket) : 0);
    }
    [[nodiscard]] int memories() const { return nodes() * sockets(); }

  private:
    /// Sockets of the node that has most.
    [[nodiscard]] int sockets() const { return seats_.empty() ? parts_.sockets : max_sockets_; }
    [[nodiscard]] Seat seat_of(int rank) const {
        return seats_.empty() ? parts_.seat(place_of(rank)) : seats_[static_cast<std::size_t>(rank)];
    }

    std::vector<int> node_of_;
    std::vector<int> group_of_;
    std::vector<std::vector<int>> ranks_of_;
    std::vector<std::vector<int>> nodes_of_;
    std::vector<int> place_of_;
    std::vector<int> place_in_group_;
    std::vector<Seat> seats_;  // unless they follow from parts_
    NodeParts parts_;
    int max_ranks_ = 0;
    int max_sockets_ = 1;
};

}  // namespace timpani
