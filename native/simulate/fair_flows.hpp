#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "simulate/moment.hpp"

namespace timpani {

/// Messages share ports and SharedLinks' links fairly; those between nodes also pass their ranks' memories. Of k
/// messages each gets a k-th share, and flows at the rate of the busiest resource on its way. The unused rest stays
/// unused; max-min fairness would redistribute it.
///
/// A share changes when a message begins or ends. The time of a message is paid as bytes of all messages that passed
/// the limiting resource meanwhile, so that times stay linear in the costs.
template <class Moment>
class FairFlows {
  public:
    FairFlows(const Costs& costs, const Topology* topology, std::size_t ranks)
        : costs_(costs), topology_(topology), first_link_(2 * ranks) {
        if (!costs.fair) return;
        const auto nodes = static_cast<std::size_t>(topology != nullptr ? topology->nodes() : 0);
        const auto groups = static_cast<std::size_t>(topology != nullptr ? topology->groups() : 0);
        const auto memories = static_cast<std::size_t>(topology != nullptr ? topology->memories() : 0);
        flowing_.resize(first_link_ + 2 * nodes + 2 * groups + memories);
    }

    /// The number of a message that is going to flow; valid until forget().
    int add() {
        if (free_.empty()) {
            flows_.emplace_back();
            return static_cast<int>(flows_.size()) - 1;
        }
        const int id = free_.back();
        free_.pop_back();
        return id;
    }
    void forget(int id) { free_.push_back(id); }

    /// Starts message `id` at `time`.
    void begin(int id, int sender, int receiver, const CallCosts::Priced& message, double time) {
        flows_[static_cast<std::size_t>(id)] = {.since = time};
        pass(id, 2 * static_cast<std::size_t>(sender), message.alone(), kPort);
        pass(id, 2 * static_cast<std::size_t>(receiver) + 1, message.alone(), kPort);
        if (topology_ != nullptr) pass_links(id, sender, receiver, message.bytes);
    }

    [[nodiscard]] bool passes_nothing(int id) const { return flows_[static_cast<std::size_t>(id)].places == 0; }

    /// Lets `schedule` call ends() at or before the end of each message whose share has changed. To be called before
    /// time advances.
    template <class Schedule>
    void settle(double time, const Schedule& schedule) {
        for (const std::size_t place : changed_) {
            flowing_[place].changed = false;
            for (const int id : flowing_[place].ids) {
                Flow& flow = flows_[static_cast<std::size_t>(id)];
                if (flow.settled_at == round_) continue;
                flow.settled_at = round_;
                reshare(flow, time);
                const double end = end_of(flow, time);
                if (end < flow.scheduled) {
                    flow.scheduled = end;
                    schedule(id, end);
                }
            }
        }
        changed_.clear();
        ++round_;
    }

    /// Whether message `id` has ended by `time`, for which it was scheduled; if it has become slower it is scheduled
    /// again. Times scheduled for an earlier message of this number are ignored.
    template <class Schedule>
    bool ends(int id, double time, const Schedule& schedule) {
        Flow& flow = flows_[static_cast<std::size_t>(id)];
        if (flow.scheduled != time) return false;
        flow.scheduled = kNever;
        const double end = end_of(flow, flow.since);
        if (end <= time) {
            advance(flow, time);
            return true;
        }
        flow.scheduled = end;
        schedule(id, end);
        return false;
    }

    /// Advances `now` from the start of message `id` to its end.
    void pay(Moment& now, int id, const CallCosts::Priced& message) {
        Flow& flow = flows_[static_cast<std::size_t>(id)];
        Moment undisturbed = now;
        const double alone = message.alone();
        const double share = alone > 0 ? flow.limited[kPort] / alone : 1;
        now.pay(message.term, share, message.line->gap);
        now.pay(message.term + 1, share * message.bytes, message.line->per_byte);
        for (std::size_t kind = 0; kind < kLinks; ++kind) {
            const double cost = costs_.shared.at(kind);
            if (cost > 0) {
                now.pay(static_cast<std::size_t>(Paid::shared) + kind, flow.limited.at(kind) / cost, cost);
            }
        }
        undisturbed.time += std::min(alone, now.time - undisturbed.time);
        now.waits_from(undisturbed);
        leave(id);
    }

  private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    static constexpr std::size_t kPort = kLinks;
    static constexpr std::size_t kMaxPassed = 8;

    /// A port or link that a message passes: its number, how long the message alone takes there, and its kind: a Link
    /// or a port.
    struct Passed {
        std::size_t place;
        double alone;
        std::size_t kind;
    };
    struct Flow {
        double since = 0;  // time of the last change of its share
        double left = 1;   // remaining part at that time
        double rate = 0;   // part per unit of time
        double scheduled = kNever;
        std::array<double, kLinks + 1> limited{};  // duration by limiting kind
        std::size_t limit = kPort;
        std::array<Passed, kMaxPassed> passed{};
        std::uint8_t places = 0;
        std::uint64_t settled_at = 0;
    };
    struct Flowing {
        std::vector<int> ids;
        bool changed = false;
    };

    void pass(int id, std::size_t place, double alone, std::size_t kind) {
        if (alone <= 0) return;
        Flow& flow = flows_[static_cast<std::size_t>(id)];
        flow.passed.at(flow.places++) = {place, alone, kind};
        flowing_[place].ids.push_back(id);
        change(place);
    }
    void pass_links(int id, int sender, int receiver, double bytes) {
        const auto from = static_cast<std::size_t>(topology_->node_of(sender));
        const auto to = static_cast<std::size_t>(topology_->node_of(receiver));
        const auto nodes = static_cast<std::size_t>(topology_->nodes());
        const auto link = [&](std::size_t kind, std::size_t number) {
            pass(id, first_link_ + number, bytes * costs_.shared.at(kind), kind);
        };
        const auto from_group = static_cast<std::size_t>(topology_->group_of(static_cast<int>(from)));
        const auto to_group = static_cast<std::size_t>(topology_->group_of(static_cast<int>(to)));
        if (from != to) {
            link(kNodeLink, 2 * from);
            link(kNodeLink, 2 * to + 1);
        }
        if (from_group != to_group) {
            link(kUplink, 2 * nodes + 2 * from_group);
            link(kUplink, 2 * nodes + 2 * to_group + 1);
        }
        const auto memories = 2 * nodes + 2 * static_cast<std::size_t>(topology_->groups());
        const auto memory = static_cast<std::size_t>(topology_->memory_of(sender));
        const auto other = static_cast<std::size_t>(topology_->memory_of(receiver));
        link(kMemory, memories + memory);
        if (memory != other) link(kMemory, memories + other);
    }
    void change(std::size_t place) {
        if (flowing_[place].changed) return;
        flowing_[place].changed = true;
        changed_.push_back(place);
    }
    void leave(int id) {
        Flow& flow = flows_[static_cast<std::size_t>(id)];
        for (std::size_t i = 0; i < flow.places; ++i) {
            const std::size_t place = flow.passed.at(i).place;
            auto& ids = flowing_[place].ids;
            *std::ranges::find(ids, id) = ids.back();
            ids.pop_back();
            change(place);
        }
    }

    static void advance(Flow& flow, double time) {
        flow.left = std::max(0.0, flow.left - (time - flow.since) * flow.rate);
        flow.limited.at(flow.limit) += time - flow.since;
        flow.since = time;
    }
    /// Advances the flow to `time`, and updates its share.
    void reshare(Flow& flow, double time) {
        advance(flow, time);
        double longest = 0;
        for (std::size_t i = 0; i < flow.places; ++i) {
            const Passed& passed = flow.passed.at(i);
            const double takes = passed.alone * static_cast<double>(flowing_[passed.place].ids.size());
            if (takes > longest) {
                longest = takes;
                flow.limit = passed.kind;
            }
        }
        flow.rate = 1 / longest;
    }
    /// Rounded up by a relative 2⁻⁴⁰, so that equal messages end together.
    static double end_of(const Flow& flow, double time) {
        constexpr std::uint64_t kRounded = (1U << 12U) - 1;
        const double end = time + flow.left / flow.rate;
        return std::bit_cast<double>((std::bit_cast<std::uint64_t>(end) + kRounded) & ~kRounded);
    }

    const Costs& costs_;
    const Topology* topology_;
    std::size_t first_link_;
    std::vector<Flow> flows_;
    std::vector<int> free_;
    std::vector<Flowing> flowing_;      // through each port and link
    std::vector<std::size_t> changed_;  // ports and links changed since time advanced
    std::uint64_t round_ = 1;
};

}  // namespace timpani
