#pragma once

#include "collectives/collective.hpp"
#include "collectives/topology.hpp"

namespace timpani {

/// The ranks of each node and the nodes of each group, numbered as a collective with a root needs them. The root leads
/// its node, its node is the first of its group, and its group is the first of all. Elsewhere the lowest rank leads its
/// node, and the node with the lowest rank is its group's first. The others follow in ascending order and wrap around.
/// So local rank 0 is a node's leader, and index 0 a group's first node.
class Hierarchy {
  public:
    explicit Hierarchy(const CollectiveArguments& args) : topology_(*args.topology), root_(args.root) {
        root_node_ = topology_.node_of(root_);
        root_group_ = topology_.group_of(root_node_);
    }

    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] int nodes() const { return topology_.nodes(); }
    [[nodiscard]] int ranks_on(int node) const { return static_cast<int>(topology_.ranks_of(node).size()); }
    [[nodiscard]] int nodes_in(int group) const { return static_cast<int>(topology_.nodes_of(group).size()); }

    [[nodiscard]] int local_rank(int rank) const {
        const int node = topology_.node_of(rank);
        const int first = node == root_node_ ? topology_.place_of(root_) : 0;
        return wrapped(topology_.place_of(rank) - first, ranks_on(node));
    }
    [[nodiscard]] int rank_at(int node, int local_rank) const {
        const int first = node == root_node_ ? topology_.place_of(root_) : 0;
        return topology_.ranks_of(node)[static_cast<std::size_t>((local_rank + first) % ranks_on(node))];
    }
    [[nodiscard]] int leader(int node) const { return rank_at(node, 0); }

    [[nodiscard]] int index_in_group(int node) const {
        const int group = topology_.group_of(node);
        const int first = group == root_group_ ? topology_.place_in_group(root_node_) : 0;
        return wrapped(topology_.place_in_group(node) - first, nodes_in(group));
    }
    [[nodiscard]] int node_at(int group, int index) const {
        const int first = group == root_group_ ? topology_.place_in_group(root_node_) : 0;
        return topology_.nodes_of(group)[static_cast<std::size_t>((index + first) % nodes_in(group))];
    }

    [[nodiscard]] int index_of_group(int group) const { return wrapped(group - root_group_, topology_.groups()); }
    [[nodiscard]] int group_at(int index) const { return (index + root_group_) % topology_.groups(); }

    /// The position of a node among all nodes, group after group: neighbors share a switch if possible. And the
    /// inverse.
    [[nodiscard]] int position_of_node(int node) const {
        int before = 0;
        const int own = index_of_group(topology_.group_of(node));
        for (int index = 0; index < own; ++index) before += nodes_in(group_at(index));
        return before + index_in_group(node);
    }
    [[nodiscard]] int node_at_position(int position) const {
        int group = root_group_;
        while (position >= nodes_in(group)) {
            position -= nodes_in(group);
            group = (group + 1) % topology_.groups();
        }
        return node_at(group, position);
    }

  private:
    static int wrapped(int index, int size) { return (index + size) % size; }

    const Topology& topology_;
    int root_;
    int root_node_;
    int root_group_;
};

}  // namespace timpani
