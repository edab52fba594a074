#include "measure/stop_rule.hpp"

#include <cmath>
#include <random>

#include "tests/check.hpp"

namespace timpani {

namespace {

std::vector<std::int64_t> noise(std::size_t count, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal(1000, 100);
    std::vector<std::int64_t> values(count);
    for (auto& value : values) value = std::llround(normal(engine));
    return values;
}

}  // namespace

TEST(few_values_are_never_precise) {
    const std::vector<std::int64_t> five{7, 7, 7, 7, 7};
    CHECK(std::isinf(relative_half_width(five)));
    const std::vector<std::int64_t> six{7, 7, 7, 7, 7, 7};
    CHECK(relative_half_width(six) == 0);
}

TEST(the_interval_shrinks_with_the_square_root_of_the_sample) {
    const double at_100 = relative_half_width(noise(100, 1));
    const double at_10000 = relative_half_width(noise(10'000, 1));
    CHECK(at_10000 < at_100 / 5);
    // Normal noise of 10 %: the median's standard error is 1.2533 · 10 % / √n, and 1.96 of it the half-width.
    CHECK(std::abs(at_10000 - 1.96 * 1.2533 * 0.1 / 100) < 0.0007);
}

TEST(the_median_and_its_interval_ignore_an_outlier) {
    auto values = noise(200, 2);
    const auto median = median_of(values);
    const double before = relative_half_width(values);
    values[17] = 1'000'000'000;
    CHECK(std::abs(median_of(values) - median) < 20);
    CHECK(std::abs(relative_half_width(values) - before) < 0.005);
}

TEST(independent_values_count_fully_and_repeated_ones_do_not) {
    const auto independent = noise(2000, 3);
    CHECK(effective_size(independent, median_of(independent)) > 1500);
    std::vector<std::int64_t> repeated;
    for (const auto value : noise(200, 4)) repeated.insert(repeated.end(), 10, value);
    const double effective = effective_size(repeated, median_of(repeated));
    CHECK(effective > 100 && effective < 400);
}

TEST(a_constant_sample_counts_fully) {
    const std::vector<std::int64_t> constant(50, 3);
    CHECK(effective_size(constant, 3) == 50);
}

}  // namespace timpani
