#include "simulate/clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "schedule/engine/engine.hpp"
#include "simulate/by_level.hpp"
#include "simulate/fair_flows.hpp"
#include "simulate/moment.hpp"
#include "simulate/queues.hpp"
#include "simulate/shared_links.hpp"

namespace timpani {

namespace {

/// Policy of an engine in which messages take time. A rank sends through one port and receives through another. When a
/// port becomes free, only the first waiting message is asked; the others wait until it has decided.
template <class Moment>
class Clock {
    enum Port : std::size_t { kOut, kIn, kPorts };
    static constexpr int kNone = -1;
    static constexpr int kNoRankWaits = -1;
    static constexpr int kOneRankChecked = -2;  // and no other waits

  public:
    /// With a symmetry only rank 0 is simulated.
    Clock(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, const EventSink& sink,
          Symmetry symmetry = Symmetry::none)
        : schedule_(prepare(algorithm, args)),
          call_costs_(costs, args),
          links_(costs, args.topology),
          sink_(sink),
          fair_(costs.fair),
          engine_(*schedule_, args.ranks, max_messages_under_way(algorithm, args), *this, symmetry),
          flows_(costs, args.topology, static_cast<std::size_t>(engine_.number_of_ranks())) {}

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
            if (sink_) {
                engine_.for_each_unended([this](const Message& each) {
                    sink_({each.rank, each.number, each.round, each.step(), each.note.moment.time, kNeverEnds});
                });
            }
            throw std::runtime_error("rank " + std::to_string(stuck->place.rank) + " waits for ever");
        }
        return last_;
    }

    // Interface that the engine uses.
    static constexpr bool kListsWaited = false;
    struct Note {
        Moment moment;  // when the message was posted; of one that flows, when it arrives and, of its receive, began
        PairingLinks links;  // while it waits for its rank's port

        /// For a send that didn't wait for its receiver, its number in flows_; else kNone. It shares the place of
        /// `links`: with one number more, a side of a message would need two cache lines.
        [[nodiscard]] int flow() const { return links.child; }
    };
    struct RankState {
        Moment now;  // when it may begin its next step
        // For the port that it sends through, and the port that it receives through:
        std::array<Moment, kPorts> free;                                    // from then on
        std::array<int, kPorts> first_waiting{kNoRankWaits, kNoRankWaits};  // of a heap, by their side
    };
    void check(const Place& /*place*/, const Step& /*step*/) {}
    void ready(int rank) {
        Moment& now = engine_.state(rank).now;
        now = later(now, ended_);
    }
    Note begin(const Place& place, std::int64_t round, const Step& step, std::span<const std::int64_t> /*waited*/) {
        Moment& now = engine_.state(place.rank).now;
        if (step.is_message()) {
            call_costs_.post(now, step);
            const bool may_flow = step.kind == Step::Kind::send && fair_;
            return {now, {.child = may_flow ? send_eagerly(place.rank, step) : kNone}};
        }
        const double start = now.time;
        call_costs_.compute(now, step.kind, step.from.count);
        last_ = later(last_, now);
        if (sink_) sink_({place.rank, place.number, round, step, start, now.time});
        return {now, {}};
    }
    void meet(int send) {
        const auto& [posted, received] = sides(send);
        if (fair_ && posted.note.flow() != kNone) {
            Flowing& flowing = flowing_[static_cast<std::size_t>(posted.note.flow())];
            flowing.send = send;
            if (flowing.arrived) end_at_receive(posted.note.flow());
            return;
        }
        const double both = later(posted.note.moment, received.note.moment).time;
        if (both > time_) {
            ahead_.add(both, {.id = send, .kind = Turn::Kind::begin});
        } else {
            beginning_.add(candidate(send));
        }
    }

  private:
    using Message = timpani::Message<Note>;
    static_assert(!std::is_same_v<Moment, timpani::Moment<0>> || sizeof(Message) == kCacheLine);

    // How far ahead the data of events at one time are prefetched, and the data that they refer to.
    static constexpr std::size_t kFarAhead = 12;
    static constexpr std::size_t kNearAhead = 6;
    static constexpr int kEventsPerAdvance = 64;  // small enough to stay in the cache until the ranks resume

    /// An event is one of these: A message that both sides have posted may start. A message ends. A port is free for
    /// its first waiting message. A message that shares ports may have ended. An eager one starts before its receiver
    /// waits.
    struct Turn {
        enum class Kind : std::uint8_t { begin, end, send_port_free, receive_port_free, flow, eager };
        int id;  // of the message's send, the rank, or the message in flows_
        Kind kind;

        [[nodiscard]] bool is_of_message() const { return kind == Kind::begin || kind == Kind::end; }
        [[nodiscard]] bool is_of_port() const {
            return kind == Kind::send_port_free || kind == Kind::receive_port_free;
        }
    };
    /// A message that could begin now, and whether it waited for a port of its sender or its receiver. Of several
    /// candidates, each rank sends and receives in the order of its steps.
    struct Candidate {
        std::int64_t send_number;
        std::int64_t receive_number;
        int sender;
        int receiver;
        int send;
        enum class Waited : std::uint8_t { no, to_send, to_receive } waited = Waited::no;
        friend bool operator>(const Candidate& a, const Candidate& b) {
            const auto key = [](const Candidate& each) {
                return std::tuple(each.send_number, each.receive_number, each.sender, each.receiver);
            };
            return key(a) > key(b);
        }
    };

    /// A message that shares ports. An eager one flows, and may arrive, before its receive is posted.
    struct Flowing {
        int sender;
        int receiver;
        std::int64_t count;
        Moment moment;  // when it begins, and then when it arrives
        int send = kNone;
        bool arrived = false;
    };
    struct ScheduleFlow {
        RadixHeap<Turn>& ahead;
        void operator()(int id, double time) const { ahead.add(time, {.id = id, .kind = Turn::Kind::flow}); }
    };

    std::pair<Message&, Message&> sides(int send) {
        Message& message = engine_.posted(send);
        return {message, engine_.posted(message.other)};
    }
    [[nodiscard]] Candidate candidate(int send) {
        const auto& [sent, received] = sides(send);
        return {sent.number, received.number, sent.rank, received.rank, send};
    }
    [[nodiscard]] CallCosts::Priced priced(const Message& send, const Message& receive) {
        return call_costs_.message(send.rank, receive.rank, send.count);
    }

    /// The messages that wait for a port: a heap of their sides there.
    [[nodiscard]] auto waiting() {
        const auto links = [this](int side) -> PairingLinks& { return engine_.posted(side).note.links; };
        const auto precedes = [this](int one, int other) {
            const auto send_of = [this](int side) {
                const Message& message = engine_.posted(side);
                return message.kind == Step::Kind::send ? side : message.other;
            };
            return candidate(send_of(other)) > candidate(send_of(one));
        };
        return PairingHeaps(links, precedes);
    }

    /// Ends the messages that end now before any begin that could begin now, since others may follow from them.
    void end_those_now() {
        for (int handled = 1; ahead_.any_left(); ++handled) {
            if (handled % kEventsPerAdvance == 0) engine_.advance();
            const Turn turn = ahead_.take();
            if (const Turn* const far = ahead_.ahead(kFarAhead)) fetch(*far);
            if (const Turn* const near = ahead_.ahead(kNearAhead)) fetch_what_it_refers_to(*near);
            switch (turn.kind) {
                case Turn::Kind::begin:
                    beginning_.add(candidate(turn.id));
                    break;
                case Turn::Kind::end:
                    end(turn.id);
                    break;
                case Turn::Kind::send_port_free:
                    ask_first(turn.id, kOut);
                    break;
                case Turn::Kind::receive_port_free:
                    ask_first(turn.id, kIn);
                    break;
                case Turn::Kind::eager:
                    begin_to_flow(turn.id);
                    break;
                case Turn::Kind::flow:
                    if (flows_.ends(turn.id, time_, schedule_flow_)) arrive(turn.id);
            }
        }
        engine_.advance();
    }
    void fetch(const Turn& turn) {
        if (turn.is_of_message()) {
            engine_.prefetch_posted(turn.id);
        } else if (turn.is_of_port()) {
            engine_.prefetch_rank(turn.id);
        }
    }
    void fetch_what_it_refers_to(const Turn& turn) {
        if (turn.is_of_message()) {
            engine_.prefetch_other_side(turn.id);
        } else if (turn.is_of_port()) {
            const int first =
                engine_.state(turn.id).first_waiting.at(turn.kind == Turn::Kind::send_port_free ? kOut : kIn);
            if (first >= 0) engine_.prefetch_posted(first);
        }
    }

    /// Begins the first message that could begin, or queues it for a port.
    void begin_first() {
        const Candidate first = beginning_.take();
        if (const Candidate* const far = beginning_.ahead(kFarAhead)) engine_.prefetch_posted(far->send);
        if (const Candidate* const near = beginning_.ahead(kNearAhead)) engine_.prefetch_other_side(near->send);
        begin(first);
        if (first.waited == Candidate::Waited::no) return;
        const bool sends = first.waited == Candidate::Waited::to_send;
        const int rank = sends ? first.sender : first.receiver;
        const Port port = sends ? kOut : kIn;
        RankState& state = engine_.state(rank);
        if (state.first_waiting[port] == kOneRankChecked) {
            state.first_waiting[port] = kNoRankWaits;
        } else if (state.free[port].time > time_) {
            ask_when_free(rank, port);
        } else {
            ask_first(rank, port);
        }
    }
    void ask_when_free(int rank, Port port) {
        ahead_.add(engine_.state(rank).free[port].time,
                   {.id = rank, .kind = port == kOut ? Turn::Kind::send_port_free : Turn::Kind::receive_port_free});
    }
    void ask_first(int rank, Port port) {
        int& first = engine_.state(rank).first_waiting[port];
        const int side = first;
        const int next = waiting().without(side);
        first = next < 0 ? kOneRankChecked : next;
        Candidate asked = candidate(port == kOut ? side : engine_.posted(side).other);
        asked.waited = port == kOut ? Candidate::Waited::to_send : Candidate::Waited::to_receive;
        beginning_.add(asked);
    }
    void wait_for(int rank, Port port, int side) {
        int& first = engine_.state(rank).first_waiting[port];
        if (first == kNoRankWaits) ask_when_free(rank, port);
        first = first < 0 ? side : waiting().merged(first, side);
    }

    void begin(const Candidate& candidate) {
        const auto& [send, receive] = sides(candidate.send);
        Moment& out = engine_.state(send.rank).free[kOut];
        Moment& in = engine_.state(receive.rank).free[kIn];
        const Moment both = later(send.note.moment, receive.note.moment);
        if (fair_) {
            send.note.moment = both;
            flow(candidate.send);
            return;
        }
        Moment now = later(both, later(out, in));
        if (now.time > time_) {
            if (out.time < now.time) {
                wait_for(receive.rank, kIn, send.other);
            } else {
                wait_for(send.rank, kOut, candidate.send);
            }
            return;
        }
        now.waits_from(both);
        receive.note.moment = now;
        const auto paid = priced(send, receive);
        const Moment start = now;
        Moment ready = later(send.note.moment, out);
        ready.waits_from(send.note.moment);
        CallCosts::hold_ports(now, paid);
        links_.pass(now, start, send.rank, receive.rank, paid.bytes);
        in = now;
        out = call_costs_.arrive(now, start, ready, paid);
        send.note.moment = now;
        ahead_.add(now.time, {.id = candidate.send, .kind = Turn::Kind::end});
    }

    /// Lets a message flow together with others.
    void flow(int number) {
        const auto& [send, receive] = sides(number);
        begin_to_flow(add_flow({send.rank, receive.rank, send.count, send.note.moment, number}));
    }
    /// The number in flows_ of an eager message, which flows as soon as it is posted; kNone for others.
    int send_eagerly(int rank, const Step& step) {
        const int receiver = engine_.number_of_ranks() == 1 ? 0 : step.peer;
        if (!call_costs_.is_eager(step.from.count)) return kNone;
        const Moment& now = engine_.state(rank).now;
        const int id = add_flow({rank, receiver, step.from.count, now});
        // Sums of payments may differ from the time in the last digit.
        ahead_.add(std::max(now.time, time_), {.id = id, .kind = Turn::Kind::eager});
        return id;
    }
    int add_flow(const Flowing& flowing) {
        const int id = flows_.add();
        const auto place = static_cast<std::size_t>(id);
        if (place >= flowing_.size()) flowing_.resize(place + 1);
        flowing_[place] = flowing;
        return id;
    }
    [[nodiscard]] CallCosts::Priced priced(const Flowing& message) {
        return call_costs_.message(message.sender, message.receiver, message.count);
    }
    void begin_to_flow(int id) {
        const Flowing& message = flowing_[static_cast<std::size_t>(id)];
        flows_.begin(id, message.sender, message.receiver, priced(message), time_);
        if (flows_.passes_nothing(id)) arrive(id);
    }
    /// Lets a message arrive that has passed its ports.
    void arrive(int id) {
        Flowing& message = flowing_[static_cast<std::size_t>(id)];
        const auto paid = priced(message);
        flows_.pay(message.moment, id, paid);
        CallCosts::take_latency(message.moment, paid);
        message.arrived = true;
        if (message.send != kNone) end_at_receive(id);
    }
    void end_at_receive(int id) {
        const Flowing& message = flowing_[static_cast<std::size_t>(id)];
        const auto& [send, receive] = sides(message.send);
        const Moment end = later(message.moment, receive.note.moment);
        receive.note.moment = send.note.moment;  // when it began
        send.note.moment = end;
        // Payments may add up to less than the time in the last digit.
        ahead_.add(std::max(end.time, time_), {.id = message.send, .kind = Turn::Kind::end});
        flows_.forget(id);
    }

    void end(int number) {
        const auto& [send, receive] = sides(number);
        ended_ = send.note.moment;
        last_ = later(last_, ended_);
        if (sink_) {
            const double start = receive.note.moment.time;
            for (const Message* const each : {&send, &receive}) {
                sink_({each->rank, each->number, each->round, each->step(), start, time_});
            }
        }
        engine_.end(number);
    }

    std::unique_ptr<const Schedule> schedule_;
    CallCosts call_costs_;
    SharedLinks<Moment> links_;
    const EventSink& sink_;
    double time_ = 0;
    Moment ended_{};  // of the message that ended last
    Moment last_{};
    bool fair_;
    std::vector<Flowing> flowing_;  // by the number in flows_
    ScheduleFlow schedule_flow_{ahead_};
    RadixHeap<Turn> ahead_;
    InOrder<Candidate> beginning_;
    Engine<Clock> engine_;
    FairFlows<Moment> flows_;
};

template <std::size_t kTerms>
struct Last {
    Moment<kTerms> moment;
    Way way;
};

template <std::size_t kTerms>
Last<kTerms> last(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, bool by_events,
                  const EventSink& sink = nullptr) {
    std::optional<Moment<kTerms>> found;
    auto way = Way::by_events;
    if (!by_events) {
        const auto symmetry = symmetry_of(algorithm, args);
        if (symmetry != Symmetry::none && args.topology == nullptr) {
            found = Clock<Moment<kTerms>>(algorithm, args, costs, sink, symmetry).run();
            way = Way::one_for_all;
        } else {
            found = last_by_level<kTerms>(algorithm, args, costs);
            if (found) way = Way::by_level;
        }
    }
    if (!found) found = Clock<Moment<kTerms>>(algorithm, args, costs, sink).run();
    CallCosts(costs, args).add_rest(*found);
    return {*found, way};
}

template <std::size_t kTerms>
Composition composition(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, bool by_events,
                        std::size_t terms) {
    const auto [found, way] = last<kTerms>(algorithm, args, costs, by_events);
    const auto end = found.amounts.begin() + static_cast<std::ptrdiff_t>(terms);
    return {found.time, found.waited, {found.amounts.begin(), end}, way};
}

}  // namespace

double simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs,
                const EventSink& sink) {
    return last<0>(algorithm, args, costs, sink != nullptr, sink).moment.time;
}

Composition compose(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, bool by_events) {
    std::size_t terms = kPaidFirst;
    for (const auto& lines : costs.messages) terms += kPaidByLine * lines.size();
    if (terms > kMaxTerms) throw std::runtime_error("costs have more lines than can be simulated");
    const auto compose_with = terms <= kFewTerms    ? composition<kFewTerms>
                              : terms <= kManyTerms ? composition<kManyTerms>
                                                    : composition<kMaxTerms>;
    return compose_with(algorithm, args, costs, by_events, terms);
}

}  // namespace timpani
