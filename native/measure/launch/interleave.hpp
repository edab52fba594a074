#pragma once

#include <functional>
#include <optional>
#include <random>
#include <span>

#include "measure/launch/competitor.hpp"

namespace timpani {

enum class StopReason : int { none, precision, rounds, repetitions, time_limit, lost };

/// The order of bursts. The same seed on every rank gives the same order.
using Shuffler = std::mt19937_64;

/// Collective. Measures competitors interleaved, in rounds. In a round each competitor runs a burst of about 20 calls,
/// and each round draws a new order. So compared calls are milliseconds apart and share the state of the machine. The
/// rounds end for all competitors together, at the first of these:
///
/// - the plan's precision is reached for each competitor's median and for its time relative to the others,
/// - `rounds` rounds, if set,
/// - the plan's number of repetitions, or a thousand,
/// - the time limit.
///
/// If the plan sets a factor by which a competitor loses, a competitor that is significantly slower than the fastest by
/// more than that factor is no longer measured. The rules above then ignore it.
///
/// The first tenth of a burst (two calls of 20) finds the caches as the previous competitor left them, so these calls
/// are recorded separately. `under_way` gets the competitor that is being called, on every rank.
StopReason interleave(const Harness& harness, std::span<Competitor> competitors, Buffers& buffers,
                      const Protocol& protocol, std::optional<int> rounds, Shuffler& shuffler,
                      const std::function<void(int)>& under_way);

}  // namespace timpani
