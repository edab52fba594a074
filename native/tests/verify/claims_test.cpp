#include <algorithm>
#include <set>

#include "collectives/topology.hpp"
#include "schedule/algorithm.hpp"
#include "tests/check.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

/// The false claim that is found if `claim` of bcast/two_level is `value`, on 6 ranks on 3 nodes in 2 groups.
template <std::int64_t value>
std::string false_claim(std::int64_t (*Claims::*claim)(const CollectiveArguments&)) {
    const std::vector<int> nodes{0, 0, 1, 1, 2, 2};
    const std::vector<int> groups{0, 0, 0, 0, 1, 1};
    const Topology topology(nodes, groups);
    const CollectiveArguments args{.ranks = 6, .count = 5, .root = 0, .topology = &topology};
    Algorithm algorithm = *find_algorithm("bcast", "two_level");
    algorithm.claims.*claim = [](const CollectiveArguments&) -> std::int64_t { return value; };
    return find_false_claim(algorithm, args).value_or("");
}

}  // namespace

TEST(claims_that_the_schedule_does_not_keep_are_found) {
    CHECK(false_claim<1'000'000>(&Claims::rounds).starts_with("rounds: claimed 1000000, found "));
    CHECK(false_claim<1'000'000>(&Claims::max_sent).starts_with("elements sent by one rank: claimed 1000000, found "));
    CHECK(false_claim<0>(&Claims::max_sent).starts_with("elements sent by one rank: claimed 0, found "));
    CHECK(false_claim<1>(&Claims::max_neighbors).starts_with("neighbors: claimed 1, found "));
    CHECK(false_claim<0>(&Claims::max_leaving_node).starts_with("elements leaving one node: claimed 0, found "));
    CHECK(false_claim<0>(&Claims::max_leaving_group).starts_with("elements leaving one group: claimed 0, found "));
}

TEST(a_symmetry_that_the_schedule_does_not_keep_is_found) {
    const CollectiveArguments args{.ranks = 4, .count = 8, .root = 0};
    Algorithm ring = *find_algorithm("allgather", "ring");
    CHECK(!find_broken_symmetry(ring, args));
    ring.symmetry = by_exclusive_or;
    CHECK(find_broken_symmetry(ring, args) ==
          "rank 1 does not do what rank 0 does, which contradicts the claimed symmetry");
    Algorithm parts = *find_algorithm("allreduce", "ring");
    const CollectiveArguments uneven{.ranks = 4, .count = 9, .root = 0};
    CHECK(!find_broken_symmetry(parts, uneven));
    parts.symmetry = by_rotation;
    CHECK(find_broken_symmetry(parts, uneven).has_value());
}

TEST(a_round_that_is_passed_over_although_a_rank_has_steps_in_it_is_found) {
    Algorithm algorithm = *find_algorithm("bcast", "linear");
    const CollectiveArguments args{.ranks = 4, .count = 5, .root = 0};
    CHECK(!find_false_claim(algorithm, args));
    algorithm.next_active = [](const CollectiveArguments&, int, std::int64_t k) {
        return std::max<std::int64_t>(k, 1);
    };
    CHECK(find_false_claim(algorithm, args) == "rank 0 skips round 0, in which it has steps");
}

TEST(steps_that_no_rank_may_take_are_found) {
    const Algorithm& algorithm = *find_algorithm("bcast", "linear");
    const CollectiveArguments args{.ranks = 2, .count = 4, .root = 0};
    const Region sent{Buffer::send, 0, 4};
    const Region received{Buffer::receive, 0, 4};
    const auto mistake = [&](const Step& added) {
        const std::vector<std::vector<Step>> steps{{{Step::Kind::send, 1, sent, {}}, added},
                                                   {{Step::Kind::receive, 0, {}, received}}};
        return find_mistake(algorithm, args, steps).value_or("");
    };
    CHECK(mistake({Step::Kind::copy, -1, {Buffer::send, 0, 1}, {Buffer::send, 2, 1}})
              .ends_with("writes the caller's send buffer"));
    CHECK(mistake({Step::Kind::copy, -1, sent, {Buffer::receive, 1, 4}}).ends_with("is outside its buffer"));
    CHECK(mistake({Step::Kind::reduce, -1, {Buffer::send, 0, 2}, {Buffer::send, 1, 2}}) != "");
    CHECK(mistake({Step::Kind::send, 2, sent, {}}).ends_with("has no such peer"));
    CHECK(mistake({Step::Kind::send, 1, sent, {}}).ends_with("never ends"));
}

TEST(cases_have_several_roots_block_sizes_and_kinds_of_operators) {
    std::set<int> roots;
    std::set<std::size_t> blocks;
    std::set<bool> commutative;
    const auto note = [&](const CollectiveArguments& args) {
        roots.insert(args.root);
        blocks.insert(args.counts.size());
        commutative.insert(args.commutative);
        return true;
    };
    for_each_case(*find_algorithm("scatterv", "linear"), {5, 5, 4, 4}, note);
    CHECK((roots == std::set{0, 1, 2, 4}));
    CHECK((blocks == std::set<std::size_t>{0, 5}));
    for_each_case(*find_algorithm("reduce", "linear"), {5, 5, 4, 4}, note);
    CHECK(commutative.size() == 2);
}
