#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/topology.hpp"
#include "simulate/noise.hpp"

namespace timpani {

/// What a message takes by its own size, from `first_bytes` on, as in LogGP: of n bytes gap + per_byte · n, for which
/// it holds the sender's port and the receiver's, and then latency + latency_per_byte · n, in which both may be at
/// others: where one message alone is slower than the port. Hockney's α is the gap of a line without a latency.
struct Line {
    std::int64_t first_bytes = 0;
    double gap = 0;
    double per_byte = 0;
    double latency = 0;
    double latency_per_byte = 0;
};

/// What messages share with others (shared_links.hpp): a socket's memory those within a node, and in each direction a
/// node's link those between nodes and a group's uplink those between groups.
enum Link : std::size_t { kMemory, kNodeLink, kUplink, kLinks };

/// What everything takes, in whatever unit of time the caller likes. A time is the sum of what was paid on the way to
/// it: linear in all that is here, for as long as nothing comes in another order.
struct Costs {
    double overhead = 0;  // of a rank, for each message that it sends
    double reduced = 0;   // a byte
    double copied = 0;    // a byte
    double eager = 0;     // of a rank, for each byte that it sends eagerly, which it copies first
    double rest = 0;      // of a call, beyond what its schedule does: ranks begin and end it at rest
    /// A byte, by Link. 0 is no limit.
    std::array<double, kLinks> shared{};
    /// Bytes, by Link, that pass it at once after it has been idle, as a token bucket lets them (shared_links.hpp). Not
    /// with `fair`.
    std::array<double, kLinks> burst{};
    double idle = 0;  // how long links with a burst have been idle when a call begins
    /// Messages of fewer bytes are sent eagerly: they are on their way before their receiver waits for them.
    std::int64_t eager_below = 0;
    /// Whether the messages under way at once share ports and links fairly (fair_flows.hpp), so that all end late. Else
    /// one passes behind the other.
    bool fair = false;
    /// Of what messages take by their lines; shared links pass their bytes without.
    Noise noise{};
    /// By Relation, which is `node` where nobody knows; lines by ascending first_bytes. Where a relation has none,
    /// those of the next closer one that has some hold, else of the next farther one.
    std::array<std::vector<Line>, kRelations> messages{};
};

/// A message of n bytes takes alpha + beta · n and holds both ports for as long: Hockney's model.
inline Costs hockney(double alpha, double beta, double gamma) {
    return {.reduced = gamma, .messages = {{{{.gap = alpha, .per_byte = beta}}}}};
}
/// A message takes one tick, and all else nothing.
inline Costs unit_clock() { return hockney(1, 0, 0); }

/// The amounts that are paid: of each a count or bytes; under 0 what a burst or the idle time before the call saved.
/// Behind these what each line's gap, per_byte, latency and latency_per_byte was paid for, line after line of one
/// relation after the other.
enum class Paid : std::uint8_t { overhead, reduced, copied, eager, rest, idle, shared };
constexpr std::size_t kPaidFirst = 6 + kLinks;  // `shared` is one for each of them
constexpr std::size_t kPaidByLine = 4;

}  // namespace timpani
