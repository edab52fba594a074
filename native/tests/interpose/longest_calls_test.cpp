#include "interpose/report/longest_calls.hpp"

#include <string>
#include <vector>

#include "interpose/profile/call_table.hpp"
#include "tests/check.hpp"

namespace timpani {

TEST(a_call_that_many_ranks_wait_in_is_listed_once_by_the_rank_that_was_longest_in_it) {
    std::vector<LongCall> calls;
    for (std::int64_t rank = 0; rank < 20; ++rank)
        calls.push_back({rank, 1000 - rank, 1, "bcast", "rank " + std::to_string(rank)});
    calls.push_back({0, 900, 2, "bcast", "of other ranks"});
    calls.push_back({0, 800, 1, "reduce", "another collective"});
    calls.push_back({1000, 700, 1, "bcast", "the next"});
    const std::vector<LongCall> longest = longest_calls(calls);
    CHECK(longest.size() == 4);
    CHECK(longest[0].text == "rank 0" && longest[1].text == "of other ranks");
    CHECK(longest[2].text == "another collective" && longest[3].text == "the next");
}

TEST(the_list_is_bounded_and_calls_of_unknown_ranks_are_never_taken_for_one) {
    const std::vector<LongCall> calls(100, {0, 5, 0, "bcast", ""});
    CHECK(longest_calls(calls).size() == CallTable::kLongestCalls);
}

}  // namespace timpani
