#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "simulate/moment.hpp"

namespace timpani {

/// Links that messages share, in addition to the ports of their ranks:
///
/// - within a node, the memory of a rank's socket, or of its node if sockets are unknown;
/// - between nodes, a node's link in each direction;
/// - between groups, a group's uplink in each direction.
///
/// All bytes pass a link one after the other, in the order in which messages began. A message waits while it flows, so
/// k concurrent messages of n bytes take the longer of one message's time and k · n · the link's cost per byte: the
/// max-rate model (Gropp, Olson and Samfass 2016).
///
/// A link with a burst is a token bucket (tc-tbf(8)): while idle it gains the bytes that could have passed, up to its
/// burst, and as many later pass without delay. So the link counts as free earlier by its idle time, at most by the
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
            throw std::runtime_error("links with a burst can't be shared fairly");
        }
        Moment idle{};
        idle.pay(static_cast<std::size_t>(Paid::idle), -1, costs.idle);
        for (std::size_t kind = 0; kind < kLinks; ++kind) {
            if (costs.burst.at(kind) <= 0) continue;
            std::ranges::fill(free_.at(kind), later(idle_since({}, kind), idle));
        }
    }

    /// Whether any link is limited, and the ranks that share it are known.
    static bool shares(const Costs& costs, const Topology* topology) {
        return topology != nullptr && std::ranges::any_of(costs.shared, [](double cost) { return cost > 0; });
    }

    /// Delays a message that began at `start` and would have passed at `now` without others, if others are in its way.
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
    /// For a link with a burst that was not used before `start`: when it became free, limited by the burst.
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
    std::array<std::vector<Moment>, kLinks> free_;  // when all earlier messages have passed
};

}  // namespace timpani
