#pragma once

#include <cstddef>
#include <optional>

#include "schedule/algorithm.hpp"
#include "simulate/moment.hpp"

namespace timpani {

/// Time when the last rank is done, before the cost of rest. Same result as clock.cpp, but computed round by round over
/// an array of ranks, without events; nothing if the results would differ.
///
/// It applies under three conditions, which are checked for each message:
///
/// - in each round a rank sends at most one message, and receives at most one, which is sent in the same round;
/// - no message could flow before one of an earlier round with a common rank;
/// - a step waits for its rank's newest message or for all, not for some.
///
/// It doesn't apply if messages share links (shared_links.hpp) or ranks share memory.
template <std::size_t kTerms>
std::optional<Moment<kTerms>> last_by_level(const Algorithm& algorithm, const CollectiveArguments& args,
                                            const Costs& costs);

}  // namespace timpani
