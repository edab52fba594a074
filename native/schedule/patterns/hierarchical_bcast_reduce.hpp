#pragma once

#include "schedule/patterns/closed_forms.hpp"
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
    static std::int64_t max_neighbors(const CollectiveArguments& args) { return tree(args).max_neighbors(); }
};

template <const TreeKinds& kinds>
struct HierarchicalBroadcast : HierarchicalTree<kinds> {
    using Base = HierarchicalTree<kinds>;

    static TreeBcast<TopologyTree> broadcast(const CollectiveArguments& args) {
        return {Base::tree(args), Base::segments(args), args};
    }
    static constexpr auto prepare = prepared_by<broadcast>;
    static constexpr decltype(Algorithm::scratch) scratch = nullptr;

    static constexpr Claims claims{
        .rounds = Base::busy_rounds,
        .max_sent = [](const CollectiveArguments& args) { return Base::tree(args).max_children() * args.count; },
        .max_neighbors = Base::max_neighbors,
        .max_leaving_node =
            [](const CollectiveArguments& args) {
                return Base::tree(args).max_leaving_node(false, [&](int) { return args.count; });
            }};
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
