#include <cmath>
#include <numbers>
#include <random>

#include "measure/cell/samples.hpp"
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

/// A first-order autoregressive series around 10⁶: the correlation at lag k is phi^k.
std::vector<std::int64_t> autoregressive(std::size_t count, double phi, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal(0, std::sqrt(1 - phi * phi));
    std::vector<std::int64_t> values(count);
    double state = std::normal_distribution<double>(0, 1)(engine);
    for (auto& value : values) {
        value = 1'000'000 + std::llround(10'000 * state);
        state = phi * state + normal(engine);
    }
    return values;
}

/// That series' effective size for its median. Two normal values with correlation r are on the same side of the median
/// with probability ½ + asin(r) / π (Sheppard, 1899), so the correlation of their signs is 2 asin(r) / π.
double known_effective_size(std::size_t count, double phi) {
    double sum = 0;
    double power = phi;
    for (int lag = 1; lag < 1000; ++lag, power *= phi) sum += 2 * std::asin(power) / std::numbers::pi;
    return static_cast<double>(count) / (1 + 2 * sum);
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
    // Normal noise of 10 %: the median's standard error is 1.2533 · 10 % / √n, and the half-width is 1.96 times that.
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

TEST(an_autoregressive_series_is_worth_what_theory_says) {
    constexpr std::size_t kCount = 1000;
    for (const double phi : {0.3, 0.6, 0.9, 0.97}) {
        double mean = 0;
        for (unsigned seed = 0; seed < 200; ++seed) {
            const auto series = autoregressive(kCount, phi, seed);
            mean += effective_size(series, median_of(series)) / 200;
        }
        const double known = known_effective_size(kCount, phi);
        CHECK(mean > 0.9 * known && mean < 1.4 * known);  // the end of the sum, lost in noise, is omitted
    }
}

TEST(the_interval_of_a_correlated_series_covers_its_median_nearly_as_often_as_it_says) {
    for (const double phi : {0.0, 0.6, 0.9}) {
        int covered = 0;
        for (unsigned seed = 0; seed < 400; ++seed) {
            const auto interval = median_interval(autoregressive(600, phi, seed));
            covered += interval.low <= 1'000'000 && 1'000'000 <= interval.high ? 1 : 0;
        }
        CHECK(covered > 0.88 * 400);
    }
}

TEST(the_interval_of_few_values_is_their_range) {
    const std::vector<std::int64_t> three{9, 7, 8};
    CHECK(median_interval(three).low == 7 && median_interval(three).high == 9);
    CHECK(median_interval({}).effective_size == 0);
}

TEST(a_constant_sample_counts_fully) {
    const std::vector<std::int64_t> constant(50, 3);
    CHECK(effective_size(constant, 3) == 50);
}

}  // namespace timpani

TEST(an_interval_of_independent_values_has_the_order_statistics_of_95_percent) {
    std::vector<std::int64_t> values;  // 0 to 100, none next to its neighbors
    for (std::int64_t i = 0; i < 101; ++i) values.push_back(37 * i % 101);
    const auto interval = timpani::median_interval(values);
    CHECK(interval.effective_size == 101);
    CHECK(interval.low == 39);  // 50.5 ± 1.96 · √101 / 2, the 40th and the 62nd value
    CHECK(interval.high == 61);
}
