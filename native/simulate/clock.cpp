#include "simulate/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "schedule/engine.hpp"
#include "simulate/by_level.hpp"
#include "simulate/fair_flows.hpp"
#include "simulate/in_order.hpp"
#include "simulate/moment.hpp"
#include "simulate/radix_heap.hpp"
#include "simulate/shared_links.hpp"

namespace timpani {

namespace {

/// The policy of an engine for which a message takes time. Messages that wait for a port are in a queue of that port,
/// of which only the first is asked when the port is free.
template <class Moment>
class Clock {
  public:
    /// With a symmetry, what happens to rank 0 stands for all.
    Clock(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, const Tell& tell,
          Symmetry symmetry = Symmetry::none)
        : schedule_(prepare(algorithm, args)),
          till_(costs, args),
          links_(costs, args.topology),
          tell_(tell),
          ranks_(symmetry == Symmetry::none ? static_cast<std::size_t>(args.ranks) : 1),
          fair_(costs.fair),
          flows_(costs, args.topology, ranks_.size()),
          engine_(*schedule_, args.ranks, most_under_way(algorithm, args), *this, symmetry) {}

    Moment run() {
        engine_.start();
        for (;;) {
            while (!beginning_.empty()) {
                begin_first();
                end_those_now();
            }
            flows_.settle(time_, schedule_flow_);
            if (ahead_.empty()) break;
            time_ = ahead_.earliest();
            end_those_now();
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
        last_ = later(last_, now);
        if (tell_) tell_({place.rank, place.number, round, step, start, now.time});
        return now;
    }
    void meet(const typename Engine<Clock>::Meeting& message) {
        const double both = later(engine_.posted(message.send).note, engine_.posted(message.receive).note).time;
        if (both > time_) {
            ahead_.add(both, {.message = message, .kind = Turn::Kind::begin});
        } else {
            beginning_.add({waiting(message)});
        }
    }

  private:
    using Meeting = typename Engine<Clock>::Meeting;

    /// What a rank sends through, or what it receives through.
    struct Port {
        int rank = -1;
        bool receives = false;
        [[nodiscard]] std::int64_t key() const { return std::int64_t{2} * rank + (receives ? 1 : 0); }
    };
    struct Rank {
        Moment now;            // when it may begin its next step
        Moment sending_until;  // when its ports are free
        Moment receiving_until;
    };

    /// A message that shares what it passes, in flows_.
    struct Flow {
        int id;
        std::uint32_t version;
    };

    /// What comes up at a time: a message that both sides have posted may begin, one ends, a port is free for the first
    /// message that waits for it, or one that shares ports may have flowed.
    struct Turn {  // NOLINT(bugprone-tagged-union-member-count): Kind has a tag for each, two for `message`
        enum class Kind : std::uint8_t { begin, end, free, flow };
        union {
            Meeting message;
            Port port;
            Flow flow;
        };
        Kind kind;
    };
    /// A message that could begin. Of those that could begin together each rank sends and receives in the order of its
    /// steps.
    struct Waiting {
        std::int64_t send_number;
        std::int64_t receive_number;
        int sender;
        int receiver;
        Meeting message;
        friend bool operator>(const Waiting& a, const Waiting& b) {
            const auto key = [](const Waiting& each) {
                return std::tuple(each.send_number, each.receive_number, each.sender, each.receiver);
            };
            return key(a) > key(b);
        }
    };
    /// One that could begin now, and the port, if any, that it is the first to have waited for. Only that one is asked;
    /// the others stay in the queue.
    struct Candidate {
        Waiting waiting;
        Port port{};
        friend bool operator>(const Candidate& a, const Candidate& b) { return a.waiting > b.waiting; }
    };

    struct ScheduleFlow {
        RadixHeap<Turn>& ahead;
        void operator()(int id, std::uint32_t version, double time) const {
            ahead.add(time, {.flow = {id, version}, .kind = Turn::Kind::flow});
        }
    };

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    Moment& until(const Port& port) {
        Rank& rank = at(port.rank);
        return port.receives ? rank.receiving_until : rank.sending_until;
    }

    [[nodiscard]] Waiting waiting(const Meeting& message) {
        const auto& send = engine_.posted(message.send);
        const auto& receive = engine_.posted(message.receive);
        return {send.number, receive.number, send.rank, receive.rank, message};
    }

    [[nodiscard]] Till::Priced priced(const Meeting& message) {
        const auto& send = engine_.posted(message.send);
        return till_.message(send.rank, engine_.posted(message.receive).rank, send.region.count);
    }

    /// Ends the messages that end now, from which others may follow, before any begins that could begin now.
    void end_those_now() {
        while (ahead_.any_left()) {
            const Turn turn = ahead_.take();
            if (turn.kind == Turn::Kind::end) end(turn.message);
            if (turn.kind == Turn::Kind::begin) beginning_.add({waiting(turn.message)});
            if (turn.kind == Turn::Kind::free) take_first(turn.port);
            if (turn.kind == Turn::Kind::flow && flows_.ends(turn.flow.id, turn.flow.version, time_, schedule_flow_)) {
                arrive(turn.flow.id);
            }
        }
    }

    /// Lets the first of those begin that could, or wait for a port.
    void begin_first() {
        const auto [waiting, port] = beginning_.take();
        begin(waiting);
        if (port.rank < 0) return;
        const auto queue = waiting_.find(port.key());
        if (queue->second.empty()) {
            waiting_.erase(queue);
        } else if (const double free = until(port).time; free > time_) {
            ahead_.add(free, {.port = port, .kind = Turn::Kind::free});
        } else {
            take_first(port);
        }
    }
    void take_first(const Port& port) {
        auto& queue = waiting_.at(port.key());
        std::ranges::pop_heap(queue, std::greater<>());
        beginning_.add({queue.back(), port});
        queue.pop_back();
    }
    void wait_for(const Port& port, const Waiting& waiting) {
        const auto [queue, is_first] = waiting_.try_emplace(port.key());
        queue->second.push_back(waiting);
        std::ranges::push_heap(queue->second, std::greater<>());
        if (is_first) ahead_.add(until(port).time, {.port = port, .kind = Turn::Kind::free});
    }

    void begin(const Waiting& waiting) {
        const Meeting& message = waiting.message;
        auto& send = engine_.posted(message.send);
        auto& receive = engine_.posted(message.receive);
        const Port out{waiting.sender, false};
        const Port in{waiting.receiver, true};
        const Moment both = later(send.note, receive.note);
        if (fair_) {
            receive.note = both;
            flow(message);
            return;
        }
        Moment now = later(both, later(until(out), until(in)));
        if (now.time > time_) {
            wait_for(until(out).time < now.time ? in : out, waiting);
            return;
        }
        now.waits_from(both);
        receive.note = now;
        const auto paid = priced(message);
        const Moment start = now;
        Moment ready = later(send.note, until(out));
        ready.waits_from(send.note);
        Till::hold_ports(now, paid);
        links_.pass(now, start, waiting.sender, waiting.receiver, paid.bytes);
        until(in) = now;
        until(out) = till_.arrive(now, start, ready, paid);
        send.note = now;
        ahead_.add(now.time, {.message = message, .kind = Turn::Kind::end});
    }

    /// Lets a message flow beside others.
    void flow(const Meeting& message) {
        const auto& send = engine_.posted(message.send);
        const int id = flows_.begin(send.rank, engine_.posted(message.receive).rank, priced(message), time_);
        const auto place = static_cast<std::size_t>(id);
        if (place >= flowing_.size()) flowing_.resize(place + 1);
        flowing_[place] = message;
        if (flows_.passes_nothing(id)) arrive(id);
    }
    /// Lets one that has flowed so arrive.
    void arrive(int id) {
        const Meeting message = flowing_[static_cast<std::size_t>(id)];
        auto& send = engine_.posted(message.send);
        auto& receive = engine_.posted(message.receive);
        const auto paid = priced(message);
        Moment now = receive.note;
        flows_.pay(now, id, paid);
        (void)till_.arrive(now, receive.note, send.note, paid);  // shared ports are never taken
        send.note = now;
        // What is paid may add up to less than the time by its last digit.
        ahead_.add(std::max(now.time, time_), {.message = message, .kind = Turn::Kind::end});
    }

    void end(const Meeting& message) {
        const Moment arrived = engine_.posted(message.send).note;
        const double start = engine_.posted(message.receive).note.time;
        last_ = later(last_, arrived);
        if (tell_) {
            for (const int side : {message.send, message.receive}) {
                const auto& each = engine_.posted(side);
                tell_({each.rank, each.number, each.round, each.step(), start, time_});
            }
        }
        ended_ = arrived;
        engine_.end(message);
        engine_.go_on();
    }

    std::unique_ptr<const Schedule> schedule_;
    Till till_;
    SharedLinks<Moment> links_;
    const Tell& tell_;
    double time_ = 0;
    Moment ended_{};  // of the message that ended last
    Moment last_{};
    std::vector<Rank> ranks_;
    bool fair_;
    FairFlows<Moment> flows_;
    std::vector<Meeting> flowing_;  // by the number in flows_
    ScheduleFlow schedule_flow_{ahead_};
    RadixHeap<Turn> ahead_;
    InOrder<Candidate> beginning_;
    std::unordered_map<std::int64_t, std::vector<Waiting>> waiting_;  // heaps, the first in front, by the port's key
    Engine<Clock> engine_;
};

template <std::size_t kTerms>
Moment<kTerms> last(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, bool by_events,
                    const Tell& tell = nullptr) {
    std::optional<Moment<kTerms>> found;
    if (!by_events) {
        const auto symmetry = symmetry_of(algorithm, args);
        if (symmetry != Symmetry::none && args.topology == nullptr) {
            found = Clock<Moment<kTerms>>(algorithm, args, costs, tell, symmetry).run();
        } else {
            found = last_by_level<kTerms>(algorithm, args, costs);
        }
    }
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
