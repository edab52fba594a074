#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/arithmetic.hpp"
#include "schedule/patterns/hierarchy.hpp"
#include "schedule/patterns/tree.hpp"

namespace timpani {

/// The tree within one level, with the leader as root: linear (all ranks are the leader's children), a chain, a binary
/// or a binomial tree.
enum class TreeKind : std::uint8_t { linear, chain, binary, binomial };

/// A tree of that kind over the numbers from 0, the root, to `size` − 1.
struct LevelTree {
    TreeKind kind;
    int size;

    [[nodiscard]] int parent(int number) const {
        if (number == 0) return -1;
        if (kind == TreeKind::linear) return 0;
        if (kind == TreeKind::chain) return number - 1;
        return kind == TreeKind::binary ? BinaryTree{size}.parent(number) : number & (number - 1);
    }
    [[nodiscard]] int child(int number, int index) const {
        if (kind == TreeKind::linear) return number == 0 && index + 1 < size ? index + 1 : -1;
        if (kind == TreeKind::chain) return index == 0 && number + 1 < size ? number + 1 : -1;
        if (kind == TreeKind::binary) return BinaryTree{size}.child(number, index);
        int distance = number == 0 ? static_cast<int>(power(2, ceil_log2(size))) : number & -number;
        for (distance /= 2; distance > 0; distance /= 2) {  // the largest subtree first
            if (number + distance < size && index-- == 0) return number + distance;
        }
        return -1;
    }
    [[nodiscard]] int depth(int number) const {
        if (kind == TreeKind::linear) return number == 0 ? 0 : 1;
        if (kind == TreeKind::chain) return number;
        return kind == TreeKind::binary ? BinaryTree{size}.depth(number) : std::popcount(static_cast<unsigned>(number));
    }
    [[nodiscard]] int height() const {
        if (kind == TreeKind::linear) return std::min(1, size - 1);
        if (kind == TreeKind::chain) return size - 1;
        return kind == TreeKind::binary ? BinaryTree{size}.height() : floor_log2(size);
    }
};

/// The tree of each level. Without `groups` the leaders of all nodes are one level.
struct TreeKinds {
    std::optional<TreeKind> groups;
    TreeKind nodes;
    TreeKind ranks;
};

/// A tree over ranks counted from the root that consists of one tree per level: group leaders, node leaders, and the
/// ranks of a node. The farthest children come first, since their messages take longest. Its interface is that of the
/// trees in tree.hpp.
class TopologyTree {
  public:
    int ranks;

    TopologyTree(const CollectiveArguments& args, const TreeKinds& kinds)
        : ranks(args.ranks), args_(args), hierarchy_(args), kinds_(kinds) {
        for (int node = 0; node < hierarchy_.nodes(); ++node) {
            height_ = std::max(height_, depth_of_leader(node) + tree_on_node(hierarchy_.ranks_on(node)).height());
        }
    }

    [[nodiscard]] int parent(int me) const { return relative(parent_of(absolute_rank(args_, me))); }
    [[nodiscard]] int child(int me, int index) const { return relative(child_of(absolute_rank(args_, me), index)); }
    [[nodiscard]] int children(int me) const {
        int number = 0;
        while (child(me, number) >= 0) ++number;
        return number;
    }
    [[nodiscard]] int depth(int me) const {
        const int rank = absolute_rank(args_, me);
        const int node = hierarchy_.topology().node_of(rank);
        return depth_of_leader(node) + tree_on_node(hierarchy_.ranks_on(node)).depth(hierarchy_.local_rank(rank));
    }
    [[nodiscard]] int height() const { return height_; }

    // For claims.
    [[nodiscard]] int max_children() const {
        int maximum = 0;
        for (int me = 0; me < ranks; ++me) maximum = std::max(maximum, children(me));
        return maximum;
    }
    [[nodiscard]] int max_neighbors() const {
        int maximum = 0;
        for (int me = 0; me < ranks; ++me) maximum = std::max(maximum, children(me) + (me > 0 ? 1 : 0));
        return maximum;
    }
    /// Maximum over the nodes of what they send to other nodes, if `number(me)` is sent between `me` and its parent, up
    /// or down the tree.
    template <class Number>
    [[nodiscard]] std::int64_t max_leaving_node(bool up, const Number& number) const {
        const Topology& topology = hierarchy_.topology();
        std::vector<std::int64_t> leaving(static_cast<std::size_t>(topology.nodes()));
        for (int me = 1; me < ranks; ++me) {
            const int here = topology.node_of(absolute_rank(args_, me));
            const int there = topology.node_of(absolute_rank(args_, parent(me)));
            if (here != there) leaving[static_cast<std::size_t>(up ? here : there)] += number(me);
        }
        return *std::ranges::max_element(leaving);
    }

  private:
    [[nodiscard]] LevelTree tree_on_node(int size) const { return {kinds_.ranks, size}; }
    [[nodiscard]] LevelTree tree_over_groups() const { return {*kinds_.groups, hierarchy_.topology().groups()}; }
    [[nodiscard]] int group_of(int node) const { return hierarchy_.topology().group_of(node); }

    // The level of nodes that `node` is in: those of its group, or all.
    [[nodiscard]] LevelTree tree_over_nodes(int node) const {
        return {kinds_.nodes, kinds_.groups ? hierarchy_.nodes_in(group_of(node)) : hierarchy_.nodes()};
    }
    [[nodiscard]] int place_of_node(int node) const {
        return kinds_.groups ? hierarchy_.index_in_group(node) : hierarchy_.position_of_node(node);
    }
    [[nodiscard]] int leader_at(int node, int place) const {
        return hierarchy_.leader(kinds_.groups ? hierarchy_.node_at(group_of(node), place)
                                               : hierarchy_.node_at_position(place));
    }

    [[nodiscard]] int depth_of_leader(int node) const {
        const int depth = tree_over_nodes(node).depth(place_of_node(node));
        return kinds_.groups ? depth + tree_over_groups().depth(hierarchy_.index_of_group(group_of(node))) : depth;
    }

    [[nodiscard]] int parent_of(int rank) const {
        const int node = hierarchy_.topology().node_of(rank);
        if (const int place = hierarchy_.local_rank(rank); place > 0) {
            return hierarchy_.rank_at(node, tree_on_node(hierarchy_.ranks_on(node)).parent(place));
        }
        if (const int place = place_of_node(node); place > 0) {
            return leader_at(node, tree_over_nodes(node).parent(place));
        }
        if (!kinds_.groups) return -1;
        const int above = tree_over_groups().parent(hierarchy_.index_of_group(group_of(node)));
        return above < 0 ? -1 : leader_of_group(hierarchy_.group_at(above));
    }

    [[nodiscard]] int child_of(int rank, int index) const {
        const int node = hierarchy_.topology().node_of(rank);
        const int place = hierarchy_.local_rank(rank);
        if (place == 0) {
            if (const int far = child_of_leader(node, index); far >= 0) return far;
        }
        const int near = tree_on_node(hierarchy_.ranks_on(node)).child(place, index);
        return near < 0 ? -1 : hierarchy_.rank_at(node, near);
    }

    /// The child with that index among the leaders of other nodes, or −1. In the latter case `index` becomes the
    /// index among the node's ranks.
    [[nodiscard]] int child_of_leader(int node, int& index) const {
        const auto find = [&index](const LevelTree& tree, int place) {
            int number = 0;
            for (int child = 0; (child = tree.child(place, number)) >= 0; ++number) {
                if (number == index) return child;
            }
            index -= number;
            return -1;
        };
        const int place = place_of_node(node);
        if (kinds_.groups && place == 0) {
            const int child = find(tree_over_groups(), hierarchy_.index_of_group(group_of(node)));
            if (child >= 0) return leader_of_group(hierarchy_.group_at(child));
        }
        const int child = find(tree_over_nodes(node), place);
        return child < 0 ? -1 : leader_at(node, child);
    }

    [[nodiscard]] int leader_of_group(int group) const { return hierarchy_.leader(hierarchy_.node_at(group, 0)); }
    [[nodiscard]] int relative(int rank) const { return rank < 0 ? -1 : relative_rank(args_, rank); }

    const CollectiveArguments& args_;
    Hierarchy hierarchy_;
    TreeKinds kinds_;
    int height_ = 0;
};

/// The hierarchies that the study hierarchical-collectives compares: three levels (its type I), two levels (type II),
/// and two levels whose root sends to all nodes itself (type III).
constexpr TreeKinds kThreeLevels{TreeKind::binomial, TreeKind::binomial, TreeKind::binomial};
constexpr TreeKinds kTwoLevels{{}, TreeKind::binomial, TreeKind::binomial};
constexpr TreeKinds kRootToAllNodes{{}, TreeKind::linear, TreeKind::binomial};
/// Each node's link is crossed once each way, so a message in segments flows at the link's rate.
constexpr TreeKinds kChainOfNodes{{}, TreeKind::chain, TreeKind::binary};

}  // namespace timpani
