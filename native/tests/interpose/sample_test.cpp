#include <array>

#include "interpose/profile/coordinated_sample.hpp"
#include "tests/check.hpp"

namespace timpani {

namespace {

/// Calls 0 … calls − 1, each of which takes its number in nanoseconds.
CoordinatedSample sample_of(std::int64_t calls, std::int64_t entry) {
    CoordinatedSample sample;
    for (std::int64_t call = 0; call < calls; ++call) sample.add(entry, entry + call, 0, false);
    return sample;
}

}  // namespace

TEST(few_calls_are_all_kept) {
    const CoordinatedSample sample = sample_of(CoordinatedSample::kCapacity, 0);
    CHECK(sample.kept_calls().size() == CoordinatedSample::kCapacity);
    CHECK(sample.probability() == 1);
}

TEST(ranks_keep_the_same_calls_without_a_message) {
    for (const std::int64_t calls : {513, 100'000, 1'000'000}) {
        const CoordinatedSample one = sample_of(calls, 5);
        const CoordinatedSample other = sample_of(calls, 77);
        bool same = one.kept_calls().size() == other.kept_calls().size();
        for (std::size_t i = 0; same && i < one.kept_calls().size(); ++i)
            same = one.kept_calls()[i].number == other.kept_calls()[i].number;
        CHECK(same);
        CHECK(one.kept_calls().size() <= CoordinatedSample::kCapacity);
        CHECK(one.calls() == static_cast<std::uint64_t>(calls));
    }
}

TEST(a_sample_divided_by_its_probability_estimates_the_whole) {
    constexpr std::int64_t kCalls = 1'000'000;
    const CoordinatedSample sample = sample_of(kCalls, 0);
    double estimate = 0;
    double variance = 0;
    for (const SampledCall& call : sample.kept_calls()) {
        const double weighted = static_cast<double>(call.exit_ns - call.entry_ns) / sample.probability();
        estimate += weighted;
        variance += (1 - sample.probability()) * weighted * weighted;
    }
    const double whole = 0.5 * static_cast<double>(kCalls) * static_cast<double>(kCalls - 1);
    CHECK((estimate - whole) * (estimate - whole) < 9 * variance);
    CHECK(variance > 0);
}

TEST(calls_of_one_kind_among_alternating_kinds_are_kept_in_proportion) {
    CoordinatedSample sample;
    for (std::uint32_t call = 0; call < 400'000; ++call) sample.add(0, 1, call % 4, false);
    std::array<int, 4> kept{};
    for (const SampledCall& call : sample.kept_calls()) ++kept[call.row];
    for (const int each : kept) CHECK(each > static_cast<int>(sample.kept_calls().size()) / 8);
}

}  // namespace timpani
