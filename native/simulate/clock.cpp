#include "simulate/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/engine.hpp"
#include "simulate/by_level.hpp"
#include "simulate/moment.hpp"
#include "simulate/radix_heap.hpp"

namespace timpani {

namespace {

/// The policy of an engine for which a message takes time.
template <class Moment>
class Clock {
  public:
    Clock(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, const Tell& tell)
        : schedule_(prepare(algorithm, args)),
          till_(costs, args),
          tell_(tell),
          ranks_(static_cast<std::size_t>(args.ranks)),
          engine_(*schedule_, args.ranks, most_under_way(algorithm, args), *this) {}

    Moment run() {
        engine_.start();
        while (!transfers_.empty()) {
            time_ = transfers_.earliest();
            end_those_now();
            while (!beginning_.empty()) {
                const Transfer transfer = beginning_.back();
                beginning_.pop_back();
                begin(transfer);
                end_those_now();
            }
        }
        if (const auto stuck = engine_.stuck()) {
            throw std::runtime_error("rank " + std::to_string(stuck->place.rank) + " waits for ever");
        }
        return last_;
    }

    // What an engine asks of its policy.
    using Note = Moment;  // when the message was posted
    void check(const Place& /*place*/, const Step& /*step*/) {}
    Note begin(const Place& place, std::int64_t round, const Step& step, std::span<const std::int64_t> /*waited*/) {
        Moment& now = at(place.rank).now;
        now = later(now, ended_);  // when what it waited for has ended
        if (step.is_message()) {
            till_.post(now);
            return now;
        }
        const double start = now.time;
        till_.compute(now, step);
        tell({place.rank, place.number, round, step, start, now.time}, now);
        return now;
    }
    void meet(const typename Engine<Clock>::Meeting& message) {
        const auto& send = engine_.posted(message.send);
        const auto& receive = engine_.posted(message.receive);
        const Moment both = later(send.note, receive.note);
        transfers_.add(both.time, {message, send.place(), receive.place(), both, both.time, false});
    }

  private:
    struct Rank {
        Moment now;            // when it may begin its next step
        Moment sending_until;  // when its ports are free
        Moment receiving_until;
    };

    /// A message that both sides have posted by `moment`: to begin when it comes up; or one that flows since `start`,
    /// to end at `moment`.
    struct Transfer {
        typename Engine<Clock>::Meeting message;
        Place send;
        Place receive;
        Moment moment;
        double start;
        bool flows;
        /// Of those that could start together each rank sends and receives in the order of its steps.
        friend bool operator>(const Transfer& a, const Transfer& b) {
            const auto key = [](const Transfer& each) {
                return std::tuple(each.send.number, each.receive.number, each.send.rank, each.receive.rank);
            };
            return key(a) > key(b);
        }
    };

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    /// Ends the messages that end now, from which others may follow, before any begins that could begin now.
    void end_those_now() {
        const auto sorted = beginning_.size();
        while (transfers_.any_left()) {
            const Transfer transfer = transfers_.take();
            if (transfer.flows) {
                end(transfer);
            } else {
                beginning_.push_back(transfer);
            }
        }
        if (beginning_.size() > sorted) std::ranges::sort(beginning_, std::greater<>());
    }

    void begin(Transfer transfer) {
        Moment& sending_until = at(transfer.send.rank).sending_until;
        Moment& receiving_until = at(transfer.receive.rank).receiving_until;
        Moment now = later(transfer.moment, later(sending_until, receiving_until));
        if (now.time > time_) {
            transfers_.add(now.time, transfer);
            return;
        }
        now.waits_from(transfer.moment);
        transfer.start = now.time;
        transfer.flows = true;
        const auto message = till_.message(transfer.send.rank, transfer.receive.rank,
                                           engine_.posted(transfer.message.send).region.count);
        Till::hold_ports(now, message);
        sending_until = receiving_until = now;
        Till::arrive(now, message);
        transfer.moment = now;
        transfers_.add(now.time, transfer);
    }

    void end(const Transfer& transfer) {
        for (const int side : {transfer.message.send, transfer.message.receive}) {
            const auto& each = engine_.posted(side);
            tell({each.rank, each.number, each.round, each.step(), transfer.start, time_}, transfer.moment);
        }
        ended_ = transfer.moment;
        engine_.end(transfer.message);
        engine_.go_on();
    }

    void tell(const Event& event, const Moment& moment) {
        last_ = later(last_, moment);
        if (tell_) tell_(event);
    }

    std::unique_ptr<const Schedule> schedule_;
    Till till_;
    const Tell& tell_;
    double time_ = 0;
    Moment ended_{};  // of the message that ended last
    Moment last_{};
    std::vector<Rank> ranks_;
    RadixHeap<Transfer> transfers_;
    std::vector<Transfer> beginning_;  // those that could begin now, the last to begin first
    Engine<Clock> engine_;
};

template <std::size_t kTerms>
Moment<kTerms> last(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, bool by_events,
                    const Tell& tell = nullptr) {
    std::optional<Moment<kTerms>> found;
    if (!by_events) found = last_by_level<kTerms>(algorithm, args, costs);
    if (!found) found = Clock<Moment<kTerms>>(algorithm, args, costs, tell).run();
    Till(costs, args).begin_and_end_at_rest(*found);
    return *found;
}

template <std::size_t kTerms>
Composition composition(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, bool by_events,
                        std::size_t terms) {
    const auto found = last<kTerms>(algorithm, args, costs, by_events);
    return {
        found.time, found.waited, {found.amounts.begin(), found.amounts.begin() + static_cast<std::ptrdiff_t>(terms)}};
}

}  // namespace

double simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, const Tell& tell) {
    return last<0>(algorithm, args, costs, tell != nullptr, tell).time;
}

Composition compose(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, bool by_events) {
    std::size_t terms = kPaidFirst;
    for (const auto& lines : costs.messages) terms += kPaidByLine * lines.size();
    if (terms > kMostTerms) throw std::runtime_error("costs have more lines than can be told apart");
    const auto compose_with = terms <= kFewTerms ? composition<kFewTerms> : composition<kMostTerms>;
    return compose_with(algorithm, args, costs, by_events, terms);
}

}  // namespace timpani
