#include "schedule/algorithm.hpp"
#include "tests/check.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

const CollectiveArguments kArguments{.ranks = 3, .count = 2, .root = 0};

}  // namespace

TEST(a_bound_on_messages_under_way_can_make_ranks_wait_for_ever) {
    Algorithm ring = *find_algorithm("allgather", "ring");
    CHECK(!find_mistake(ring, kArguments));
    ring.requests = [](const CollectiveArguments&) -> std::int64_t { return 1; };
    CHECK(find_mistake(ring, kArguments).has_value());
    ring.requests = [](const CollectiveArguments&) -> std::int64_t { return 2; };
    CHECK(!find_mistake(ring, kArguments));
}
