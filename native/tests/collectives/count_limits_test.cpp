#include <limits>

#include "collectives/collective.hpp"
#include "tests/check.hpp"

namespace timpani {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kInt = std::numeric_limits<int>::max();

std::int64_t largest(std::string_view collective, int ranks, std::int64_t count) {
    return find_collective(collective)->largest_argument({.ranks = ranks, .count = count, .root = 0});
}

}  // namespace

TEST(only_the_v_collectives_pass_arguments_that_grow_with_the_ranks) {
    for (const Collective& collective : collectives()) {
        if (collective.result == Result::none || collective.receive.content == Content::part) continue;
        const bool grows = collective.counts != BlockCounts::equal;
        for (const int ranks : {2, 2'048, 1'000'000}) {
            CHECK(largest(collective.name, ranks, kMiB) == (grows ? (ranks - 1) * kMiB : kMiB));
        }
        CHECK(largest(collective.name, 2, kInt) == kInt);
        CHECK(largest(collective.name, 2, 2 * (kInt + 1)) == 2 * (kInt + 1));
    }
}

TEST(a_reduce_scatter_passes_the_largest_part_of_its_vector) {
    CHECK(largest("reduce_scatter", 2, 2 * kInt) == kInt);
    CHECK(largest("reduce_scatter", 2, 2 * kInt + 1) == kInt + 1);
    CHECK(largest("reduce_scatter", 2'048, 2'048 * kMiB) == kMiB);
}

}  // namespace timpani
