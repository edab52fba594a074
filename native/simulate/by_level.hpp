#pragma once

#include <cstddef>
#include <optional>

#include "schedule/algorithm.hpp"
#include "simulate/moment.hpp"

namespace timpani {

/// When the last rank is done, before the cost of rest: what the clock (clock.cpp) comes to, worked out round by round
/// over an array of ranks, without events; nothing where that would not be the same.
///
/// It is where in each round a rank sends one message at most and receives one, from a rank that sends it in that
/// round; where no message could have flowed before another of an earlier round that it shares a rank with; and where a
/// step waits for the newest of the messages that its rank has under way or for all, not for some. All that is checked,
/// message by message. It isn't where messages share links (shared_links.hpp) or ranks memory.
template <std::size_t kTerms>
std::optional<Moment<kTerms>> last_by_level(const Algorithm& algorithm, const CollectiveArguments& args,
                                            const Costs& costs);

}  // namespace timpani
