#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace timpani {

/// One of the longest calls of a rank.
struct LongCall {
    std::int64_t begin_ns = 0;  // on the common clock
    std::int64_t ns = 0;
    std::uint64_t members = 0;  // as CommunicatorShape has it; 0: unknown
    std::string name{};
    std::string text{};  // its line in the profile

    /// Whether it is the same call on another rank: they overlap by more than half of the shorter one. A rank that
    /// leaves a call early may enter the next one while others are still in the first.
    [[nodiscard]] bool is_call(const LongCall& other) const {
        const std::int64_t together =
            std::min(begin_ns + ns, other.begin_ns + other.ns) - std::max(begin_ns, other.begin_ns);
        return members != 0 && members == other.members && name == other.name && 2 * together > std::min(ns, other.ns);
    }
};

/// The longest calls of all ranks, each once: of the rank that was in it longest.
std::vector<LongCall> longest_calls(std::vector<LongCall> of_ranks);

}  // namespace timpani
