#pragma once

#include <cstddef>
#include <optional>

#include "schedule/algorithm.hpp"
#include "simulate/moment.hpp"

namespace timpani {

/// Time when the last rank is done, before the cost of rest. Same result as clock.cpp, but computed round by round over
/// an array of ranks, without events; nothing if the results would differ.
///
/// It applies if, in each round, a rank sends at most one message and receives at most one, sent in the same round; no
/// message could flow before one of an earlier round with a common rank; and a step waits for its rank's newest message
/// or for all, not for some. All this is checked for each message. It doesn't apply if messages share links
/// (shared_links.hpp) or ranks share memory.
template <std::size_t kTerms>
std::optional<Moment<kTerms>> last_by_level(const Algorithm& algorithm, const CollectiveArguments& args,
                                            const Costs& costs);

}  // namespace timpani
