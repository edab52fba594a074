#pragma once

#include <algorithm>
#include <vector>

#include "schedule/topology_tree.hpp"
#include "schedule/tree_bcast.hpp"
#include "schedule/tree_reduction.hpp"

namespace timpani {

// Broadcast and reduction along the tree of a hierarchy, pipelined in segments: the functions that their algorithms
// register, for a tree kind at each level. Parameter 0 is segment_bytes.

constexpr Parameter segment_bytes_parameter(std::int64_t default_value) {
    return {"segment_bytes", default_value, 0, "bytes of a segment; 0 sends the message whole"};
}

/// What is the same in either direction.
template <const TreeKinds& kinds>
struct HierarchicalTree {
    static Segments segments(const Shape& shape) { return Segments::of(shape, shape.parameters[0]); }
    static TopologyTree tree(const Shape& shape) { return {shape, kinds}; }

    static std::int64_t busy_rounds(const Shape& shape) {
        return shape.ranks == 1 ? 0 : tree(shape).height() + segments(shape).number() - 1;
    }
    static std::int64_t most_children(const Shape& shape) {
        const TopologyTree all = tree(shape);
        int most = 0;
        for (int me = 0; me < shape.ranks; ++me) most = std::max(most, all.children(me));
        return most;
    }
    static std::int64_t most_neighbours(const Shape& shape) {
        const TopologyTree all = tree(shape);
        int most = 0;
        for (int me = 0; me < shape.ranks; ++me) most = std::max(most, all.children(me) + (me > 0 ? 1 : 0));
        return most;
    }
};

template <const TreeKinds& kinds>
struct HierarchicalBroadcast : HierarchicalTree<kinds> {
    using Base = HierarchicalTree<kinds>;

    static std::int64_t rounds(const Shape& shape) {
        return tree_bcast_rounds(Base::tree(shape), Base::segments(shape));
    }
    static void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
        tree_bcast_round(Base::tree(shape), Base::segments(shape), shape, rank, k, steps);
    }
    static std::int64_t most_sent(const Shape& shape) { return Base::most_children(shape) * shape.count; }
    static std::int64_t most_leaving_node(const Shape& shape) {
        const TopologyTree all = Base::tree(shape);
        const Topology& topology = *shape.topology;
        std::vector<std::int64_t> children(static_cast<std::size_t>(topology.nodes()));
        for (int me = 1; me < shape.ranks; ++me) {
            const int node = topology.node_of(absolute_rank(shape, all.parent(me)));
            if (topology.node_of(absolute_rank(shape, me)) != node) ++children[static_cast<std::size_t>(node)];
        }
        return *std::ranges::max_element(children) * shape.count;
    }
};

template <const TreeKinds& kinds>
struct HierarchicalReduction : HierarchicalTree<kinds> {
    using Base = HierarchicalTree<kinds>;

    static TreeReduction<TopologyTree> reduction(const Shape& shape) {
        return {Base::tree(shape), Base::segments(shape), shape, shape.root};
    }
    static std::int64_t rounds(const Shape& shape) { return reduction(shape).rounds(); }
    static void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
        reduction(shape).round(rank, k, steps);
    }
    static std::int64_t scratch(const Shape& shape, int rank) { return reduction(shape).scratch(rank); }
    static std::int64_t most_sent(const Shape& shape) { return shape.ranks > 1 ? shape.count : 0; }
    static std::int64_t most_leaving_node(const Shape& shape) { return shape.topology->nodes() > 1 ? shape.count : 0; }
};

}  // namespace timpani
