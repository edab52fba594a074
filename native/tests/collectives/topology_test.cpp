#include "collectives/topology.hpp"

#include <array>

#include "tests/check.hpp"

namespace timpani {

TEST(nodes_and_groups_are_numbered_by_their_lowest_ranks) {
    constexpr std::array nodes{7, 3, 7, 5, 3};
    constexpr std::array groups{1, 0, 9, 1, 0};  // rank 2's word on its node's group comes too late
    const Topology topology(nodes, groups);
    CHECK(topology.ranks() == 5);
    CHECK(topology.nodes() == 3);
    CHECK(topology.groups() == 2);
    CHECK(topology.node_of(0) == 0 && topology.node_of(1) == 1 && topology.node_of(3) == 2);
    CHECK(topology.ranks_of(0)[0] == 0 && topology.ranks_of(0)[1] == 2 && topology.ranks_of(0).size() == 2);
    CHECK(topology.place_of(2) == 1 && topology.place_of(3) == 0);
    CHECK(topology.group_of(0) == 0 && topology.group_of(1) == 1 && topology.group_of(2) == 0);
    CHECK(topology.nodes_of(0).size() == 2 && topology.place_in_group(2) == 1);
    CHECK(topology.max_ranks_per_node() == 2);
}

TEST(ranks_are_as_close_as_the_smallest_part_that_holds_both) {
    constexpr NodeParts parts{.cores = 6, .sockets = 2, .caches = 2};
    // Rank r is on node r % 3; each node's fourth rank is on its second socket; nodes 0 and 1 are in one group.
    const auto topology = Topology::even(12, 3, 2, Topology::Order::round_robin, parts);
    CHECK(topology.relation_of(0, 6) == Relation::cache);
    CHECK(topology.relation_of(0, 9) == Relation::node);
    CHECK(topology.relation_of(0, 1) == Relation::group);
    CHECK(topology.relation_of(0, 2) == Relation::groups);
    const auto unknown = Topology::even(12, 3, 2, Topology::Order::round_robin);
    CHECK(unknown.relation_of(0, 6) == Relation::node && unknown.relation_of(0, 9) == Relation::node);
    CHECK(parts.hold(6) && !parts.hold(7));
    CHECK(!(NodeParts{.cores = 6, .sockets = 2, .caches = 3}).hold(1));
    CHECK(!(NodeParts{.cores = 6, .sockets = 2, .caches = 4}).hold(1));
}

}  // namespace timpani
