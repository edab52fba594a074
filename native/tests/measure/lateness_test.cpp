#include "measure/clock/lateness.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "tests/check.hpp"

namespace timpani {

namespace {

InjectedLateness of_four(ArrivalKind kind, std::uint64_t seed = 1) {
    ArrivalPattern pattern;
    pattern.kind = kind;
    return {pattern, 900, 4, seed};
}

}  // namespace

TEST(ranks_that_enter_together_get_no_lateness) {
    CHECK(!InjectedLateness().injected());
    CHECK(!of_four(ArrivalKind::together).injected());
}

TEST(patterns_say_how_late_each_rank_is) {
    CHECK((of_four(ArrivalKind::one_late).mean_ns() == std::vector<std::int64_t>{0, 0, 0, 900}));
    CHECK((of_four(ArrivalKind::sorted).mean_ns() == std::vector<std::int64_t>{0, 300, 600, 900}));
}

TEST(random_lateness_is_the_same_on_every_rank_and_differs_between_repetitions) {
    const InjectedLateness one = of_four(ArrivalKind::random);
    const InjectedLateness other = of_four(ArrivalKind::random);
    std::set<std::int64_t> drawn;
    std::int64_t sum = 0;
    constexpr std::int64_t kRepetitions = 1000;
    for (std::int64_t repetition = 0; repetition < kRepetitions; ++repetition) {
        for (int rank = 0; rank < 4; ++rank) {
            CHECK(one.of(rank, repetition) == other.of(rank, repetition));
            drawn.insert(one.of(rank, repetition));
            sum += one.of(rank, repetition);
        }
    }
    CHECK(*drawn.begin() >= 0 && *drawn.rbegin() <= 900 && drawn.size() > 800);
    CHECK(sum > 4 * kRepetitions * 420 && sum < 4 * kRepetitions * 480);  // 450 ± 4 standard errors of about 4
    CHECK(of_four(ArrivalKind::random, 2).of(1, 1) != one.of(1, 1));
}

TEST(blocks_of_one_point_count_their_repetitions_on) {
    InjectedLateness lateness = of_four(ArrivalKind::random);
    CHECK(lateness.count(20) == 0 && lateness.count(5) == 20 && lateness.count(1) == 25);
}

}  // namespace timpani
