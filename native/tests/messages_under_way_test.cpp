#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/topology.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/dependencies.hpp"
#include "tests/check.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

const CollectiveArguments kArguments{.ranks = 3, .count = 2, .root = 0};

/// The most messages that the root has under way at any time.
std::size_t most_at_once(const Algorithm& algorithm, const CollectiveArguments& args) {
    DependencyTracker tracker(most_under_way(algorithm, args));
    std::size_t most = 0;
    for (const Step& step : steps_of(algorithm, args, args.root)) {
        tracker.add(step);
        most = std::max(most, tracker.under_way().size());
    }
    return most;
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
        CHECK(most_at_once(*find_algorithm("bcast", name), args) <= 200);
    }
}
