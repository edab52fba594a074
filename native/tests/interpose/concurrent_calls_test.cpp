#include "interpose/report/concurrent_calls.hpp"

#include <cmath>

#include "interpose/profile/coordinated_sample.hpp"
#include "tests/check.hpp"

namespace timpani {

namespace {

constexpr std::int64_t kPeriod = 100;

/// Calls of 50 ns, one in each period, the first `offset` ns after time 0, as the sample keeps them.
RunningCalls running(std::uint64_t members, std::int64_t calls, std::int64_t offset) {
    CoordinatedSample sample;
    for (std::int64_t call = 0; call < calls; ++call) {
        const std::int64_t begin = call * kPeriod + offset;
        sample.add(begin, begin + 50, 0, false);
    }
    RunningCalls kept{.id = members, .members = members, .probability = sample.probability()};
    for (const SampledCall& call : sample.kept_calls())
        kept.calls.push_back({call.number, call.entry_ns, call.exit_ns});
    return kept;
}

std::vector<Concurrency> compared(const RunningCalls& one, const RunningCalls& other) {
    ConcurrentCalls calls;
    calls.add(one);
    calls.add(other);
    return calls.found();
}

bool is_within_its_error(const Concurrency& found, double ns) { return std::abs(found.ns - ns) <= 2 * found.error_ns; }

}  // namespace

TEST(of_few_calls_the_time_that_they_run_at_once_is_exact) {
    const auto found = compared(running(1, 500, 0), running(2, 500, 20));
    CHECK(found.size() == 1);
    CHECK(found[0].one == 1 && found[0].other == 2 && found[0].pairs == 500);
    CHECK(found[0].ns == 500 * 30 && found[0].error_ns == 0);
}

TEST(a_call_may_run_at_the_same_time_as_several_others) {
    RunningCalls one = running(1, 4, 0);
    one.calls = {{0, 30, 330}};  // 20 ns of call 0, calls 1 and 2, 30 ns of call 3
    const auto found = compared(one, running(2, 4, 0));
    CHECK(found.size() == 1 && found[0].pairs == 4 && found[0].ns == 20 + 50 + 50 + 30);
}

TEST(calls_that_alternate_or_are_of_the_same_ranks_do_not_run_at_once) {
    CHECK(compared(running(1, 500, 0), running(2, 500, 50)).empty());
    CHECK(compared(running(1, 500, 0), running(1, 500, 0)).empty());
}

TEST(of_many_calls_those_of_one_number_are_kept_together_and_the_estimate_says_its_error) {
    constexpr std::int64_t kCalls = 100'000;
    const auto equal = compared(running(1, kCalls, 0), running(2, kCalls, 20));
    CHECK(equal.size() == 1 && equal[0].error_ns > 0 && is_within_its_error(equal[0], kCalls * 30.0));
    CHECK(equal[0].error_ns < 0.2 * kCalls * 30);  // about 400 independent pairs
    const auto fewer = compared(running(1, kCalls, 0), running(2, kCalls / 100, 20));
    CHECK(fewer.size() == 1 && is_within_its_error(fewer[0], kCalls / 100 * 30.0));
}

TEST(calls_of_different_numbers_are_kept_independently) {
    constexpr std::int64_t kCalls = 4096;
    const auto found = compared(running(1, kCalls, 0), running(2, kCalls, kPeriod + 20));
    CHECK(found.size() == 1 && found[0].error_ns > 0);
    CHECK(is_within_its_error(found[0], (kCalls - 1) * 30.0));
}

TEST(only_the_strata_that_run_longest_are_compared) {
    ConcurrentCalls calls;
    for (std::uint64_t members = 1; members <= ConcurrentCalls::kMaxCompared + 10; ++members)
        calls.add(running(members, static_cast<std::int64_t>(members), 0));
    CHECK(calls.compared() == ConcurrentCalls::kMaxCompared);
    for (const Concurrency& pair : calls.found()) CHECK(pair.one > 10 && pair.other > 10);
}

}  // namespace timpani
