#pragma once

#include <algorithm>
#include <vector>

#include "schedule/patterns/topology_tree.hpp"
#include "schedule/patterns/tree_bcast.hpp"
#include "schedule/patterns/tree_reduction.hpp"

namespace timpani {

// Pipelined broadcast and reduction along the tree of a hierarchy: the functions that their algorithms register, for
// one tree kind per level. Parameter 0 is segment_bytes.

/// Common to both directions.
template <const TreeKinds& kinds>
struct HierarchicalTree {
    static Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[0]); }
    static TopologyTree tree(const CollectiveArguments& args) { return {args, kinds}; }

    static std::int64_t busy_rounds(const CollectiveArguments& args) {
        return args.ranks == 1 ? 0 : tree(args).height() + segments(args).number() - 1;
    }
    static std::int64_t max_neighbors(const CollectiveArguments& args) {
        const TopologyTree all = tree(args);
        int maximum = 0;
        for (int me = 0; me < args.ranks; ++me) maximum = std::max(maximum, all.children(me) + (me > 0 ? 1 : 0));
        return maximum;
    }
};

template <const TreeKinds& kinds>
struct HierarchicalBroadcast : HierarchicalTree<kinds> {
    using Base = HierarchicalTree<kinds>;

    static TreeBcast<TopologyTree> broadcast(const CollectiveArguments& args) {
        return {Base::tree(args), Base::segments(args), args};
    }
    static constexpr auto prepare = prepared_by<broadcast>;

    static std::int64_t max_sent(const CollectiveArguments& args) {
        const TopologyTree all = Base::tree(args);
        int maximum = 0;
        for (int me = 0; me < args.ranks; ++me) maximum = std::max(maximum, all.children(me));
        return maximum * args.count;
    }
    static std::int64_t max_leaving_node(const CollectiveArguments& args) {
        const TopologyTree all = Base::tree(args);
        const Topology& topology = *args.topology;
        std::vector<std::int64_t> children(static_cast<std::size_t>(topology.nodes()));
        for (int me = 1; me < args.ranks; ++me) {
            const int node = topology.node_of(absolute_rank(args, all.parent(me)));
            if (topology.node_of(absolute_rank(args, me)) != node) ++children[static_cast<std::size_t>(node)];
        }
        return *std::ranges::max_element(children) * args.count;
    }
    static constexpr Claims claims{.rounds = Base::busy_rounds,
                                   .max_sent = max_sent,
                                   .max_neighbors = Base::max_neighbors,
                                   .max_leaving_node = max_leaving_node};
};

template <const TreeKinds& kinds>
struct HierarchicalReduction : HierarchicalTree<kinds> {
    using Base = HierarchicalTree<kinds>;

    static TreeReduction<TopologyTree> reduction(const CollectiveArguments& args) {
        return {Base::tree(args), Base::segments(args), args, args.root};
    }
    static constexpr auto prepare = prepared_by<reduction>;
    static std::int64_t scratch(const CollectiveArguments& args, int rank) { return reduction(args).scratch(rank); }

    static constexpr Claims claims{.rounds = Base::busy_rounds,
                                   .max_sent = message_once,
                                   .max_neighbors = Base::max_neighbors,
                                   .max_leaving_node = message_to_other_nodes};
};

}  // namespace timpani
