#include "composed/levels.hpp"

#include <array>

#include "tests/check.hpp"

namespace timpani {

using Ints = std::vector<int>;

// Nodes 0, 2 and 4 are in group 0, nodes 1 and 3 in group 1. Ranks 0…8 are placed round robin, so node 4 has one rank.
constexpr std::array kNodeOfRank{0, 1, 2, 3, 4, 0, 1, 2, 3};
constexpr std::array kGroupOfRank{0, 1, 0, 1, 0, 0, 1, 0, 1};

Levels levels_at(int rank, int root, const Shape& shape) {
    const Topology topology(kNodeOfRank, kGroupOfRank);
    CollectiveArguments args{9, 10, root};
    args.topology = &topology;
    return levels_of(args, rank, shape);
}

TEST(a_root_leads_its_node_its_group_and_all) {
    const auto levels = levels_at(5, 5, shapes::three_level).levels;
    CHECK(levels.size() == 3);
    CHECK((levels[0].members == Ints{5, 0}) && (levels[0].counts == Ints{10, 10}));
    CHECK((levels[1].members == Ints{5, 7, 4}) && (levels[1].counts == Ints{20, 20, 10}));
    CHECK((levels[2].members == Ints{5, 6}) && (levels[2].counts == Ints{50, 40}));
    CHECK((levels[2].displacements == Ints{0, 50}) && levels[2].elements() == 90);
    CHECK(levels[0].even() && !levels[1].even());
}

TEST(ranks_that_lead_nothing_are_no_members_above) {
    const auto levels = levels_at(0, 5, shapes::three_level).levels;
    CHECK((levels[0].members == Ints{5, 0}) && !levels[0].led_by(0) && levels[0].own_count == 10);
    CHECK(!levels[1].joined_by_me() && !levels[2].joined_by_me());
}

TEST(a_leader_represents_its_node_or_its_group) {
    const auto of_node = levels_at(8, 5, shapes::three_level).levels;
    CHECK(of_node[0].led_by(8) && of_node[1].joined_by_me() && !of_node[1].led_by(8) && of_node[1].own_count == 20);
    CHECK(!of_node[2].joined_by_me());
    const auto of_group = levels_at(6, 5, shapes::three_level).levels;
    CHECK((of_group[1].members == Ints{6, 8}) && of_group[2].own_count == 40);
    CHECK(of_group[1].color != levels_at(5, 5, shapes::three_level).levels[1].color);
}

TEST(without_groups_all_leaders_meet) {
    const auto two = levels_at(0, 0, shapes::two_level);
    CHECK(two.levels.size() == 2);
    CHECK((two.levels[1].members == Ints{0, 1, 2, 3, 4}) && (two.levels[1].counts == Ints{20, 20, 20, 20, 10}));
    CHECK((two.order == Ints{0, 5, 1, 6, 2, 7, 3, 8, 4}));
    CHECK((levels_at(0, 0, shapes::three_level).order == Ints{0, 5, 2, 7, 4, 1, 6, 3, 8}));
}

}  // namespace timpani
