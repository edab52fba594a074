#include <algorithm>
#include <array>

#include "collectives/topology.hpp"
#include "schedule/algorithm.hpp"
#include "tests/check.hpp"
#include "tests/one_rank.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

const CollectiveArguments kArguments{.ranks = 3, .count = 2, .root = 0};

/// The maximum number of messages that the root has under way.
int max_at_once(const Algorithm& algorithm, const CollectiveArguments& args) {
    OneRank rank(max_messages_under_way(algorithm, args));
    int maximum = 0;
    for (const Step& step : steps_of(algorithm, args, args.root)) {
        rank.take(step);
        maximum = std::max(maximum, rank.under_way());
    }
    return maximum;
}

}  // namespace

TEST(a_bound_on_messages_under_way_can_make_ranks_wait_for_ever) {
    Algorithm ring = *find_algorithm("allgather", "ring");
    CHECK(!find_mistake(ring, kArguments));
    ring.requests = [](const CollectiveArguments&) -> std::int64_t { return 1; };
    CHECK(find_mistake(ring, kArguments).has_value());
    ring.requests = [](const CollectiveArguments&) -> std::int64_t { return 2; };
    CHECK(!find_mistake(ring, kArguments));
}

TEST(a_pipeline_of_many_segments_has_few_messages_under_way) {
    constexpr std::array node_of_rank{0, 1, 1};
    const Topology two_nodes(node_of_rank, std::array{0, 0, 0});
    for (const char* const name : {"pipeline", "two_level_shared"}) {
        CollectiveArguments args{.ranks = 3, .count = 65'536, .root = 0, .topology = &two_nodes};
        args.parameters = {1, 8};
        CHECK(max_at_once(*find_algorithm("bcast", name), args) <= 200);
    }
}
