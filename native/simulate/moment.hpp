#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "collectives/collective.hpp"
#include "collectives/topology.hpp"
#include "schedule/step.hpp"
#include "simulate/clock.hpp"

namespace timpani {

/// A time; with `kTerms` > 0 also the amounts paid along its critical path: Σ amount · cost is the time.
///
/// waited  how long of it messages that both sides had posted waited for busy ports
template <std::size_t kTerms>
struct Moment {
    double time = 0;
    double waited = 0;
    std::array<double, kTerms> amounts{};

    void pay(std::size_t term, double amount, double cost) {
        time += amount * cost;
        amounts[term] += amount;
    }
    /// The message that starts now could have started at `ready` if its port had been free.
    void waits_from(const Moment& ready) { waited = ready.waited + time - ready.time; }
};

/// Numbers of terms for costs of up to 3 lines in all, of up to 3 for each of three relations, and for each of all
/// relations.
constexpr std::size_t kFewTerms = kPaidFirst + 3 * kPaidByLine;
constexpr std::size_t kManyTerms = kPaidFirst + 3 * 3 * kPaidByLine;
constexpr std::size_t kMaxTerms = kPaidFirst + 3 * kRelations * kPaidByLine;

/// Without terms it is only the time.
template <>
struct Moment<0> {
    double time = 0;

    void pay(std::size_t /*term*/, double amount, double cost) { time += amount * cost; }
    void waits_from(const Moment& /*ready*/) {}
};

template <std::size_t kTerms>
const Moment<kTerms>& later(const Moment<kTerms>& a, const Moment<kTerms>& b) {
    return a.time < b.time ? b : a;
}

/// Applies the costs to one call.
class CallCosts {
  public:
    CallCosts(const Costs& costs, const CollectiveArguments& args)
        : costs_(costs), element_bytes_(args.element_bytes), topology_(args.topology) {
        const auto first_with_lines =
            std::ranges::find_if(costs.messages, [](const auto& lines) { return !lines.empty(); });
        if (first_with_lines == costs.messages.end()) throw std::runtime_error("no costs of messages");
        auto known = static_cast<std::size_t>(first_with_lines - costs.messages.begin());
        std::size_t first = kPaidFirst;
        for (std::size_t i = 0; i < kRelations; ++i) {
            if (!costs.messages[i].empty()) known = i;
            relations_[i] = known;
            first_terms_[i] = first;
            first += kPaidByLine * costs.messages[i].size();
        }
    }

    /// A message's cost line, and the index of its first term.
    struct Priced {
        const Line* line;
        std::size_t term;
        double bytes;

        /// Time for which it occupies its ports.
        [[nodiscard]] double alone() const { return line->gap + bytes * line->per_byte; }
    };
    [[nodiscard, gnu::always_inline]] Priced message(int sender, int receiver, std::int64_t count) const {
        const std::size_t relation = relations_[static_cast<std::size_t>(relation_of(sender, receiver))];
        const auto& lines = costs_.messages[relation];
        const std::int64_t bytes = count * element_bytes_;
        std::size_t at = 0;
        while (at + 1 < lines.size() && lines[at + 1].first_bytes <= bytes) ++at;
        return {&lines[at], first_terms_[relation] + kPaidByLine * at, static_cast<double>(bytes)};
    }

    template <class Moment>
    static void hold_ports(Moment& now, const Priced& message) {
        now.pay(message.term, 1, message.line->gap);
        now.pay(message.term + 1, message.bytes, message.line->per_byte);
    }
    /// Completes a message that began at `start` and passed its ports at `now`. It could have started at `ready` if its
    /// receiver had been there; an eager message did. Returns when it has passed its sender's port.
    template <class Moment>
    [[nodiscard, gnu::always_inline]] Moment arrive(Moment& now, const Moment& start, Moment ready,
                                                    const Priced& message) const {
        if (message.bytes < static_cast<double>(costs_.eager_below) && ready.time < start.time) {
            hold_ports(ready, message);
            const Moment sent = ready;
            take_latency(ready, message);
            now = later(now, ready);
            return sent;
        }
        const Moment sent = now;
        take_latency(now, message);
        return sent;
    }
    template <class Moment>
    static void take_latency(Moment& now, const Priced& message) {
        now.pay(message.term + 2, 1, message.line->latency);
        now.pay(message.term + 3, message.bytes, message.line->latency_per_byte);
    }
    [[nodiscard]] bool is_eager(std::int64_t count) const { return count * element_bytes_ < costs_.eager_below; }
    template <class Moment>
    void post(Moment& now, const Step& message) const {
        if (message.kind != Step::Kind::send) return;
        pay(now, Paid::overhead, 1, costs_.overhead);
        const std::int64_t count = message.from.count;
        if (is_eager(count)) pay(now, Paid::eager, static_cast<double>(count * element_bytes_), costs_.eager);
    }
    template <class Moment>
    void compute(Moment& now, Step::Kind kind, std::int64_t count) const {
        const auto bytes = static_cast<double>(count * element_bytes_);
        const bool reduces = kind == Step::Kind::reduce;
        pay(now, reduces ? Paid::reduced : Paid::copied, bytes, reduces ? costs_.reduced : costs_.copied);
    }
    template <class Moment>
    void add_rest(Moment& now) const {
        pay(now, Paid::rest, 1, costs_.rest);
    }

  private:
    template <class Moment>
    static void pay(Moment& now, Paid what, double amount, double cost) {
        now.pay(static_cast<std::size_t>(what), amount, cost);
    }
    [[nodiscard]] Relation relation_of(int a, int b) const {
        return topology_ == nullptr ? Relation::node : topology_->relation_of(a, b);
    }

    const Costs& costs_;
    std::int64_t element_bytes_;
    const Topology* topology_;
    std::array<std::size_t, kRelations> relations_{};  // the relation whose lines apply
    std::array<std::size_t, kRelations> first_terms_{};
};

}  // namespace timpani
