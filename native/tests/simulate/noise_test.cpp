#include "simulate/noise.hpp"

#include <array>
#include <cstdint>

#include "schedule/bind.hpp"
#include "simulate/clock.hpp"
#include "tests/check.hpp"

namespace {

using namespace timpani;

double time_with(std::string_view collective, const char* algorithm, int ranks, const Noise& noise) {
    Costs costs = hockney(1000, 3, 0);
    costs.noise = noise;
    const auto bound = timpani::bind(collective, algorithm, {.ranks = ranks, .count = 100, .root = 0});
    return simulate(*bound.algorithm, bound.args, costs);
}

// Vectors that Philox's authors publish (Random123, tests/kat_vectors).
TEST(philox_draws_what_its_authors_published) {
    const std::array<std::uint32_t, 4> zeros{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    const std::array<std::uint32_t, 4> ones{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    const std::array<std::uint32_t, 4> pi{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    CHECK((philox({}, {}) == zeros));
    CHECK((philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}) == ones));
    CHECK((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) == pi));
}

TEST(factors_are_as_often_under_a_quantile_as_it_says) {
    const Noise noise{.factors = {0.5, 1, 1.5, 9.5, 10}};
    constexpr int kMessages = 100'000;
    std::array<int, 4> between{};
    for (int i = 0; i < kMessages; ++i) {
        const double factor = noise.of(i % 317, i / 317, 7);
        CHECK(0.5 <= factor && factor <= 10);
        ++between[factor < 1 ? 0 : factor < 1.5 ? 1 : factor < 9.5 ? 2 : 3];
    }
    for (const int count : between) CHECK(24'000 < count && count < 26'000);
}

TEST(a_factor_that_all_messages_share_multiplies_the_time) {
    const double quiet = time_with("alltoall", "pairwise", 24, {});
    const double slow = time_with("alltoall", "pairwise", 24, {.factors = {2, 2}});
    CHECK(slow == 2 * quiet);
}

// This schedule has a symmetry: without noise, one rank would be simulated for all.
TEST(each_draw_is_another_call_and_the_same_each_time) {
    Noise noise{.factors = {1, 1.1, 4}};
    const double first = time_with("allgather", "ring", 24, noise);
    CHECK(time_with("allgather", "ring", 24, noise) == first);
    CHECK(time_with("allgather", "ring", 24, {}) < first);
    noise.draw = 1;
    CHECK(time_with("allgather", "ring", 24, noise) != first);
}

}  // namespace
