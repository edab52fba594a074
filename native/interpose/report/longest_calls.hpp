#pragma once

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

    /// Whether it is the same call on another rank: these ranks are in one call of the collective at a time.
    [[nodiscard]] bool is_call(const LongCall& other) const {
        return members != 0 && members == other.members && name == other.name && begin_ns < other.begin_ns + other.ns &&
               other.begin_ns < begin_ns + ns;
    }
};

/// The longest calls of all ranks, each once: of the rank that was in it longest.
std::vector<LongCall> longest_calls(std::vector<LongCall> of_ranks);

}  // namespace timpani
