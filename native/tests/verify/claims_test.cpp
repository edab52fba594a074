#include <algorithm>

#include "collectives/topology.hpp"
#include "schedule/algorithm.hpp"
#include "tests/check.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

/// The false claim that is found if `claim` of bcast/two_level is a million, on 6 ranks on 3 nodes in 2 groups.
std::string false_claim(std::int64_t (*Claims::*claim)(const CollectiveArguments&)) {
    const std::vector<int> nodes{0, 0, 1, 1, 2, 2};
    const std::vector<int> groups{0, 0, 0, 0, 1, 1};
    const Topology topology(nodes, groups);
    const CollectiveArguments args{.ranks = 6, .count = 5, .root = 0, .topology = &topology};
    Algorithm algorithm = *find_algorithm("bcast", "two_level");
    algorithm.claims.*claim = [](const CollectiveArguments&) -> std::int64_t { return 1'000'000; };
    return find_false_claim(algorithm, args).value_or("");
}

}  // namespace

TEST(claims_that_the_schedule_does_not_keep_are_found) {
    CHECK(false_claim(&Claims::rounds).starts_with("rounds: claimed 1000000, found "));
    CHECK(false_claim(&Claims::max_sent).starts_with("elements sent by one rank: claimed 1000000, found "));
    CHECK(false_claim(&Claims::max_neighbors).starts_with("neighbors: claimed 1000000, found "));
    CHECK(false_claim(&Claims::max_leaving_node).starts_with("elements leaving one node: claimed 1000000, found "));
    CHECK(false_claim(&Claims::max_leaving_group).starts_with("elements leaving one group: claimed 1000000, found "));
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
