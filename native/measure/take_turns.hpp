#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>

#include "measure/rival.hpp"

namespace timpani {

enum class StopReason : int { none, precision, rounds, repetitions, time_limit, lost };

/// The order of turns; the same seed on every rank gives the same order everywhere.
using Shuffler = std::mt19937_64;

/// Collective. Measures rivals in rounds: a round gives each a burst of about 20 calls, in an order drawn anew, so that
/// those compared are milliseconds apart and share the state of the machine. Rounds end together for all: when each
/// rival's median, and its time in proportion to the others' of its round, are as precise as the plan asks, or after
/// `rounds`, where it is given; or after the plan's number of repetitions, a thousand, or the time limit.
///
/// Where the plan says by what factor a rival loses, those shown to take longer than the fastest by more get no more
/// turns; the others end as if these weren't there.
///
/// The first tenth of a burst (two calls of 20) finds caches as the rival before left them: those calls are recorded
/// apart. `under_way` is told which rival is called, at every rank.
StopReason take_turns(const Harness& harness, std::span<Rival> rivals, Buffers& buffers, const Protocol& protocol,
                      std::optional<int> rounds, Shuffler& shuffler, const std::function<void(int)>& under_way);

}  // namespace timpani
