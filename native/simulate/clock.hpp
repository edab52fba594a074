#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "collectives/topology.hpp"
#include "schedule/algorithm.hpp"

namespace timpani {

/// Cost of a message of n bytes, from `first_bytes` on, as in LogGP. gap + per_byte · n occupies the sender's port and
/// the receiver's; latency + latency_per_byte · n follows, while both ports may serve other messages. Hockney's α is
/// the gap of a line without latency.
struct Line {
    std::int64_t first_bytes = 0;
    double gap = 0;
    double per_byte = 0;
    double latency = 0;
    double latency_per_byte = 0;
};

/// Links that messages share (shared_links.hpp): messages within a node a socket's memory, messages between nodes each
/// node's link, per direction, and messages between groups each group's uplink, per direction.
enum Link : std::size_t { kMemory, kNodeLink, kUplink, kLinks };

/// All costs, in any unit of time. A time is the sum of the payments along its critical path: linear in the costs as
/// long as the path doesn't change.
struct Costs {
    double overhead = 0;  // per message, of its sender
    double reduced = 0;   // per byte
    double copied = 0;    // per byte
    double eager = 0;     // per byte sent eagerly, which the sender copies first
    double rest = 0;      // of a call, beyond its schedule
    /// Per byte, by Link. 0 means no limit.
    std::array<double, kLinks> shared{};
    /// Bytes, by Link, that pass at once after idle time, as with a token bucket (shared_links.hpp). Not with `fair`.
    std::array<double, kLinks> burst{};
    double idle = 0;  // how long links with a burst have been idle when a call begins
    /// Messages of fewer bytes are sent eagerly: before their receiver waits for them.
    std::int64_t eager_below = 0;
    /// Whether concurrent messages share ports and links fairly (fair_flows.hpp). Otherwise one passes after the other.
    bool fair = false;
    /// By Relation, `node` if unknown; lines by ascending first_bytes. A relation without lines uses those of the next
    /// closer relation that has some, else of the next farther one.
    std::array<std::vector<Line>, kRelations> messages{};
};

/// A message of n bytes takes alpha + beta · n and occupies both ports for that time: Hockney's model.
inline Costs hockney(double alpha, double beta, double gamma) {
    return {.reduced = gamma, .messages = {{{{.gap = alpha, .per_byte = beta}}}}};
}
/// A message takes one tick; nothing else costs anything.
inline Costs unit_clock() { return hockney(1, 0, 0); }

/// The amounts paid: counts or bytes; negative where a burst or idle time before the call saved time. They are followed
/// by the amounts of gap, per_byte, latency and latency_per_byte of each line, for each relation.
enum class Paid : std::uint8_t { overhead, reduced, copied, eager, rest, idle, shared };
constexpr std::size_t kPaidFirst = 6 + kLinks;  // `shared` is one for each of them
constexpr std::size_t kPaidByLine = 4;

/// One step with its times, by its number within its rank. A message has two events with equal times: the sender's and
/// the receiver's.
struct Event {
    int rank;
    std::int64_t number;
    std::int64_t round;
    Step step;
    double start;
    double end;
};

/// The end of a posted message that never ends, since ranks wait for each other.
inline constexpr double kNeverEnds = std::numeric_limits<double>::infinity();

/// Receives each event when it ends, in unspecified order.
using EventSink = std::function<void(const Event&)>;

/// Simulates a schedule with all ranks starting at 0, and returns when the last rank is done.
///
/// A rank issues its steps in order. A step waits for the earlier steps that it depends on, and, if the algorithm
/// bounds the messages under way, for the oldest message, as in execute/program.hpp. A rank sends one message at a time
/// and receives one at a time, possibly both at once. A message flows when both sides have posted it and both ports are
/// free, the earliest first. With Costs::fair it flows together with others as soon as both sides have posted it, an
/// eager one as soon as it is sent. A send ends with its receive; the latency of an eager message passes before its
/// receive is posted, too. Events exclude Costs::rest; the time includes it.
///
/// Without a receiver of events, the time is computed by level where that is equivalent (by_level.hpp), else by events.
///
/// Throws std::runtime_error if ranks wait for each other forever. The last events are then the posted messages that
/// never end.
double simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs,
                const EventSink& sink = nullptr);

/// The method of a simulation: one rank for all equivalent ranks, level by level, or event by event.
enum class Way { one_for_all, by_level, by_events };

/// A time and its composition: the amounts paid along the critical path, Σ amount · cost = time, in the order of
/// Costs; how long messages waited for busy ports; and the method.
struct Composition {
    double time;
    double waited;
    std::vector<double> amounts;
    Way way;
};

/// The result of simulate() with its composition. If `by_events`, only by events.
///
/// Also throws std::runtime_error if the costs have too many lines.
Composition compose(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs,
                    bool by_events = false);

}  // namespace timpani
