#include "interpose/report/longest_calls.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "interpose/profile/call_table.hpp"

namespace timpani {

std::vector<LongCall> longest_calls(std::vector<LongCall> of_ranks) {
    std::ranges::stable_sort(of_ranks, std::greater{}, &LongCall::ns);
    std::vector<LongCall> longest;
    for (LongCall& each : of_ranks) {
        if (longest.size() == CallTable::kLongestCalls) break;
        const bool again = std::ranges::any_of(longest, [&](const LongCall& other) { return each.is_call(other); });
        if (!again) longest.push_back(std::move(each));
    }
    return longest;
}

}  // namespace timpani
