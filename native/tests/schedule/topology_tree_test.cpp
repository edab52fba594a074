#include "schedule/patterns/topology_tree.hpp"

#include <array>
#include <set>
#include <vector>

#include "tests/check.hpp"

namespace timpani {

namespace {

/// Four nodes with two ranks each, round robin, alternating between two switches.
constexpr std::array kNodes{0, 1, 2, 3, 0, 1, 2, 3};
constexpr std::array kGroups{0, 1, 0, 1, 0, 1, 0, 1};

}  // namespace

TEST(a_tree_over_nodes_reaches_each_rank_once_from_every_root) {
    const Topology topology(kNodes, kGroups);
    for (const auto& kinds : {kThreeLevels, kTwoLevels, kRootToAllNodes, kChainOfNodes}) {
        for (int root = 0; root < 8; ++root) {
            CollectiveArguments args{.ranks = 8, .count = 1, .root = root};
            args.topology = &topology;
            const TopologyTree tree(args, kinds);
            std::set<int> reached{0};
            int height = 0;
            for (int me = 0; me < 8; ++me) {
                for (int i = 0; i < tree.children(me); ++i) {
                    const int child = tree.child(me, i);
                    CHECK(tree.parent(child) == me);
                    CHECK(tree.depth(child) == tree.depth(me) + 1);
                    CHECK(reached.insert(child).second);
                }
                height = std::max(height, tree.depth(me));
            }
            CHECK(reached.size() == 8);
            CHECK(tree.height() == height);
        }
    }
}

TEST(each_node_is_entered_once_and_each_group_once_where_levels_or_a_chain_say_so) {
    const Topology topology(kNodes, kGroups);
    for (const auto& kinds : {kThreeLevels, kChainOfNodes}) {
        for (int root = 0; root < 8; ++root) {
            CollectiveArguments args{.ranks = 8, .count = 1, .root = root};
            args.topology = &topology;
            const TopologyTree tree(args, kinds);
            int into_nodes = 0;
            int into_groups = 0;
            for (int me = 1; me < 8; ++me) {
                const int here = topology.node_of(absolute_rank(args, me));
                const int there = topology.node_of(absolute_rank(args, tree.parent(me)));
                into_nodes += here != there ? 1 : 0;
                into_groups += topology.group_of(here) != topology.group_of(there) ? 1 : 0;
            }
            CHECK(into_nodes == 3);
            CHECK(into_groups == 1);
        }
    }
}

}  // namespace timpani
