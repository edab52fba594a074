#include "collectives/topology.hpp"
#include "schedule/algorithm.hpp"
#include "tests/check.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

/// A broadcast from rank 0 to rank 1 through their node's window, with notifications that may be left out.
template <bool notifies, bool acknowledges>
void hand_over(const CollectiveArguments& args, int rank, std::int64_t /*round*/, Steps& steps) {
    const Region window{Buffer::window, 0, args.count};
    if (rank == 0) {
        if (acknowledges) steps.await(1);
        steps.copy({Buffer::send, 0, args.count}, window);
        if (notifies) steps.notify(1);
    } else {
        if (acknowledges) steps.notify(0);
        if (notifies) steps.await(0);
        steps.copy(window, {Buffer::receive, 0, args.count});
    }
}

std::string mistake(decltype(Algorithm::round) round) {
    const std::vector<int> together{0, 0};
    const Topology topology(together, together);
    Algorithm algorithm = *find_algorithm("bcast", "linear");
    algorithm.rounds = [](const CollectiveArguments&) -> std::int64_t { return 1; };
    algorithm.round = round;
    algorithm.window = [](const CollectiveArguments& args) { return args.count; };
    return find_mistake(algorithm, {.ranks = 2, .count = 3, .root = 0, .topology = &topology}).value_or("");
}

}  // namespace

TEST(notified_readers_that_acknowledge_see_the_data) { CHECK(mistake(hand_over<true, true>).empty()); }

TEST(reading_the_window_without_a_notification_is_a_mistake) {
    CHECK(mistake(hand_over<false, false>).find("not ordered after the access of rank 0") != std::string::npos);
}

TEST(writing_the_window_while_another_may_read_what_the_call_before_left_is_a_mistake) {
    CHECK(mistake(hand_over<true, false>).find("not ordered after the access of rank 1") != std::string::npos);
}

TEST(only_an_algorithm_with_a_window_may_touch_it) {
    Algorithm without = *find_algorithm("bcast", "two_level_shared");
    without.window = nullptr;
    const std::vector<int> together{0, 0};
    const Topology topology(together, together);
    const CollectiveArguments args{.ranks = 2, .count = 1, .root = 0, .parameters = {0, 1}, .topology = &topology};
    CHECK(find_mistake(without, args).value_or("").find("has no window") != std::string::npos);
}
