#pragma once

#include "collectives/collective.hpp"
#include "collectives/topology.hpp"

namespace timpani {

/// Ranks that share a node and nodes that share a group, as a collective with a root sees them: the root leads its node
/// and its node leads its group; elsewhere the lowest do. In each team the leader has place 0, and the others follow
/// round their order.
class Teams {
  public:
    explicit Teams(const Shape& shape) : topology_(*shape.topology), root_(shape.root) {
        root_node_ = topology_.node_of(root_);
        root_group_ = topology_.group_of(root_node_);
    }

    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] int nodes() const { return topology_.nodes(); }
    [[nodiscard]] int ranks_on(int node) const { return static_cast<int>(topology_.ranks_of(node).size()); }
    [[nodiscard]] int nodes_in(int group) const { return static_cast<int>(topology_.nodes_of(group).size()); }

    [[nodiscard]] int place_on_node(int rank) const {
        const int node = topology_.node_of(rank);
        const int first = node == root_node_ ? topology_.place_of(root_) : 0;
        return turned(topology_.place_of(rank) - first, ranks_on(node));
    }
    [[nodiscard]] int rank_at(int node, int place) const {
        const int first = node == root_node_ ? topology_.place_of(root_) : 0;
        return topology_.ranks_of(node)[static_cast<std::size_t>((place + first) % ranks_on(node))];
    }
    [[nodiscard]] int leader(int node) const { return rank_at(node, 0); }

    [[nodiscard]] int place_in_group(int node) const {
        const int group = topology_.group_of(node);
        const int first = group == root_group_ ? topology_.place_in_group(root_node_) : 0;
        return turned(topology_.place_in_group(node) - first, nodes_in(group));
    }
    [[nodiscard]] int node_at(int group, int place) const {
        const int first = group == root_group_ ? topology_.place_in_group(root_node_) : 0;
        return topology_.nodes_of(group)[static_cast<std::size_t>((place + first) % nodes_in(group))];
    }

    [[nodiscard]] int place_of_group(int group) const { return turned(group - root_group_, topology_.groups()); }
    [[nodiscard]] int group_at(int place) const { return (place + root_group_) % topology_.groups(); }

    /// The place of a node among all, group after group, so that neighbours share a switch wherever they can.
    [[nodiscard]] int place_among_all(int node) const {
        int before = 0;
        const int own = place_of_group(topology_.group_of(node));
        for (int place = 0; place < own; ++place) before += nodes_in(group_at(place));
        return before + place_in_group(node);
    }
    [[nodiscard]] int node_among_all(int place) const {
        int group = root_group_;
        while (place >= nodes_in(group)) {
            place -= nodes_in(group);
            group = (group + 1) % topology_.groups();
        }
        return node_at(group, place);
    }

  private:
    static int turned(int place, int size) { return (place + size) % size; }

    const Topology& topology_;
    int root_;
    int root_node_;
    int root_group_;
};

}  // namespace timpani
