#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "simulate/moment.hpp"

namespace timpani {

/// What messages share beyond the ports of their two ranks: the memory of the socket of each, or a node's where nobody
/// knows sockets, those within a node; a node's link, one in each direction, those between nodes; and a group's uplink
/// those between groups.
///
/// The bytes of all pass a link one behind the other, in the order in which the messages began. A message waits for
/// that while it flows, so that k messages of n bytes that begin together take the longer of what one takes alone and
/// k · n · the link's cost of a byte: the max-rate model (Gropp, Olson and Samfass 2016).
///
/// A link with a burst is a token bucket (tc-tbf(8)): while it is idle it gains the bytes that could have passed, up to
/// its burst, and as many pass later without delay. So it counts as free for as long before it is used, at most the
/// burst's time: the virtual scheduling of the generic cell rate algorithm (ITU-T I.371).
template <class Moment>
class SharedLinks {
  public:
    SharedLinks(const Costs& costs, const Topology* topology) : costs_(costs), topology_(topology) {
        if (!shares(costs, topology)) return;
        free_[kMemory].resize(static_cast<std::size_t>(topology->memories()));
        free_[kNodeLink].resize(2 * static_cast<std::size_t>(topology->nodes()));
        free_[kUplink].resize(2 * static_cast<std::size_t>(topology->groups()));
        if (costs.fair && std::ranges::any_of(costs.burst, [](double bytes) { return bytes > 0; })) {
            throw std::runtime_error("links with a burst are passed in order, not fairly");
        }
        Moment idle{};
        idle.pay(static_cast<std::size_t>(Paid::idle), -1, costs.idle);
        for (std::size_t kind = 0; kind < kLinks; ++kind) {
            if (costs.burst.at(kind) <= 0) continue;
            std::ranges::fill(free_.at(kind), later(idle_since({}, kind), idle));
        }
    }

    /// Whether any is limited, and it is known which ranks share it.
    static bool shares(const Costs& costs, const Topology* topology) {
        return topology != nullptr && std::ranges::any_of(costs.shared, [](double cost) { return cost > 0; });
    }

    /// Lets a message pass that began at `start` and without others would have passed at `now`, which becomes later
    /// where others are in its way.
    void pass(Moment& now, const Moment& start, int sender, int receiver, double bytes) {
        if (free_[kMemory].empty()) return;
        const auto from = static_cast<std::size_t>(topology_->node_of(sender));
        const auto to = static_cast<std::size_t>(topology_->node_of(receiver));
        const Moment alone = now;
        if (from == to) {
            const int memory = topology_->memory_of(sender);
            const int other = topology_->memory_of(receiver);
            pass_one(now, start, kMemory, static_cast<std::size_t>(memory), bytes);
            if (memory != other) pass_one(now, start, kMemory, static_cast<std::size_t>(other), bytes);
        } else {
            pass_one(now, start, kNodeLink, 2 * from, bytes);
            pass_one(now, start, kNodeLink, 2 * to + 1, bytes);
            const auto from_group = static_cast<std::size_t>(topology_->group_of(static_cast<int>(from)));
            const auto to_group = static_cast<std::size_t>(topology_->group_of(static_cast<int>(to)));
            if (from_group != to_group) {
                pass_one(now, start, kUplink, 2 * from_group, bytes);
                pass_one(now, start, kUplink, 2 * to_group + 1, bytes);
            }
        }
        if (alone.time < now.time) now.waits_from(alone);
    }

  private:
    /// Of a link with a burst: when one that is used at `start` and was not before would have been free, as far back as
    /// counts.
    [[nodiscard]] Moment idle_since(const Moment& start, std::size_t kind) const {
        Moment since = start;
        since.pay(term_of(kind), -costs_.burst.at(kind), costs_.shared.at(kind));
        return since;
    }
    static std::size_t term_of(std::size_t kind) { return static_cast<std::size_t>(Paid::shared) + kind; }

    void pass_one(Moment& now, const Moment& start, std::size_t kind, std::size_t link, double bytes) {
        const double cost = costs_.shared.at(kind);
        if (cost <= 0) return;
        Moment& free = free_.at(kind)[link];
        free = costs_.burst.at(kind) > 0 ? later(idle_since(start, kind), free) : later(start, free);
        free.pay(term_of(kind), bytes, cost);
        now = later(now, free);
    }

    const Costs& costs_;
    const Topology* topology_;
    std::array<std::vector<Moment>, kLinks> free_;  // when all that began before has passed
};

}  // namespace timpani
