#include "simulate/by_level.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "schedule/dependencies.hpp"
#include "simulate/moment.hpp"
#include "simulate/shared_links.hpp"

namespace timpani {

namespace {

/// Raised where levels don't tell.
struct NotByLevel : std::exception {};

/// The messages of one direction that a rank may have under way, and its port, which one at a time flows through.
template <class Moment>
struct Port {
    Moment until;      // the last one's end
    Moment free;       // when it has left the port
    double since = 0;  // the port has not been free
    double last_start = 0;
    std::int64_t first = 0;  // all that those under way touch lies in [first, end) of `buffer`
    std::int64_t end = 0;
    Buffer buffer = Buffer::send;
    std::uint8_t open = 0;  // how many may be under way: 2 for several
    bool notifies = false;  // those are without data

    [[nodiscard]] Region region() const { return {buffer, first, end - first}; }

    void open_one(const Region& region, double now) {
        if (until.time <= now) open = 0;
        if (open > 0 && (buffer != region.buffer || notifies != (region.count == 0))) throw NotByLevel();
        first = open > 0 ? std::min(first, region.first) : region.first;
        end = open > 0 ? std::max(end, region.end()) : region.end();
        buffer = region.buffer;
        notifies = region.count == 0;
        open = open > 0 ? 2 : 1;
    }
};

/// One side of the message that a rank has posted in this round.
template <class Moment>
struct Side {
    int peer = -1;  // −1 for none
    Moment posted{};
    std::int64_t count = 0;
};

template <class Moment>
struct Rank {
    Moment now;  // when it may begin its next step
    Port<Moment> sends;
    Port<Moment> receives;
    Side<Moment> sent;
    Side<Moment> received;
    int done = 0;       // of the steps of its round
    bool left = false;  // whether any are left, which wait for the messages of this round
};

template <class Moment>
class Levels {
  public:
    Levels(const Schedule& schedule, const CollectiveArguments& args, const Costs& costs)
        : schedule_(schedule),
          args_(args),
          till_(costs, args),
          fair_(costs.fair),
          ranks_(static_cast<std::size_t>(args.ranks)) {}

    Moment run() {
        const auto rounds = schedule_.rounds();
        for (std::int64_t k = 0; k <= rounds; ++k) {
            for (int rank = 0; rank < args_.ranks; ++rank) {
                Rank<Moment>& each = at(rank);
                if (each.sent.peer >= 0) throw NotByLevel();  // nobody has received it
                if (each.left) finish(rank, each, k - 1);
                each.received.peer = -1;
                if (k < rounds) begin(rank, each, k);
            }
            for (int rank = 0; rank < args_.ranks; ++rank) {
                if (at(rank).received.peer >= 0) flow(rank, static_cast<std::uint32_t>(k));
            }
        }
        return last_;
    }

  private:
    Rank<Moment>& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    /// Takes steps up to the first that waits for a message of this round.
    void begin(int rank, Rank<Moment>& each, std::int64_t k) {
        steps_.clear();
        schedule_.round(rank, k, steps_);
        const Step* sent = nullptr;
        const Step* received = nullptr;
        each.done = 0;
        for (const Step& step : steps_.all()) {
            if (step.touches_window()) throw NotByLevel();
            const bool waits = (sent != nullptr && step.writes(sent->from)) ||
                               (received != nullptr && (step.reads(received->to) || step.writes(received->to) ||
                                                        (received->awaits() && step.notifies())));
            if (waits) break;
            wait(each, step);
            if (step.is_message()) till_.post(each.now);
            if (step.kind == Step::Kind::send) {
                if (sent != nullptr) throw NotByLevel();
                sent = &step;
                each.sent = {step.peer, each.now, step.from.count};
            } else if (step.kind == Step::Kind::receive) {
                if (received != nullptr) throw NotByLevel();
                received = &step;
                each.received = {step.peer, each.now, step.to.count};
            } else {
                compute(each, step);
            }
            ++each.done;
        }
        each.left = each.done < static_cast<int>(steps_.all().size());
        if (sent != nullptr) each.sends.open_one(sent->from, each.now.time);
        if (received != nullptr) each.receives.open_one(received->to, each.now.time);
    }

    /// Takes the rest of them.
    void finish(int rank, Rank<Moment>& each, std::int64_t k) {
        steps_.clear();
        schedule_.round(rank, k, steps_);
        for (auto i = static_cast<std::size_t>(each.done); i < steps_.all().size(); ++i) {
            const Step& step = steps_.all()[i];
            if (step.is_message()) throw NotByLevel();
            wait(each, step);
            compute(each, step);
        }
    }

    /// Lets `each` wait for the messages of earlier rounds that `step` depends on.
    static void wait(Rank<Moment>& each, const Step& step) {
        const auto wait_for = [&](Port<Moment>& port) {
            if (port.open > 1) throw NotByLevel();
            each.now = port.until;
            port.open = 0;
        };
        Port<Moment>& sends = each.sends;
        Port<Moment>& receives = each.receives;
        if (sends.open > 0 && sends.until.time > each.now.time && step.writes(sends.region())) wait_for(sends);
        if (receives.open == 0 || receives.until.time <= each.now.time) return;
        const bool shares = step.reads(receives.region()) || step.writes(receives.region());
        const bool awaits_all = receives.notifies && step.notifies();
        if (awaits_all) receives.open = 1;  // the last to end counts
        if (shares || awaits_all) wait_for(receives);
    }

    void compute(Rank<Moment>& each, const Step& step) {
        till_.compute(each.now, step);
        last_ = later(last_, each.now);
    }

    /// Lets the message flow that `number` receives.
    void flow(int number, std::uint32_t round) {
        Rank<Moment>& receiver = at(number);
        const int from = receiver.received.peer;
        Rank<Moment>& sender = at(from);
        if (sender.sent.peer != number || sender.sent.count != receiver.received.count) throw NotByLevel();
        Port<Moment>& out = sender.sends;
        Port<Moment>& in = receiver.receives;
        const Moment& both = later(sender.sent.posted, receiver.received.posted);
        // Before this, others of the sender's flowed without a break; and of the receiver's all began before.
        if (both.time < out.since || (both.time <= in.last_start && in.until.time > 0)) throw NotByLevel();
        // Two that would share a port.
        if (fair_ && later(out.free, in.free).time > both.time) throw NotByLevel();
        const auto message = till_.message(from, number, sender.sent.count, round);
        Moment now = later(both, later(out.free, in.free));
        now.waits_from(both);
        if (now.time > out.free.time) out.since = now.time;
        in.last_start = out.last_start = now.time;
        const Moment start = now;
        Moment ready = fair_ ? sender.sent.posted : later(sender.sent.posted, out.free);
        ready.waits_from(sender.sent.posted);
        Till::hold_ports(now, message);
        in.free = now;
        out.free = till_.arrive(now, start, ready, message);
        out.until = later(now, out.until);
        in.until = later(now, in.until);
        last_ = later(last_, now);
        sender.sent.peer = -1;
    }

    const Schedule& schedule_;
    const CollectiveArguments& args_;
    Till till_;
    bool fair_;
    std::vector<Rank<Moment>> ranks_;
    Steps steps_;
    Moment last_{};
};

/// Whether a few of the ranks tell already that levels are not for the schedule: one sends or receives two messages in
/// a round, or they do nothing in most rounds, for which levels would ask all ranks nevertheless.
bool is_for_events(const Schedule& schedule, const CollectiveArguments& args) {
    const auto rounds = schedule.rounds();
    std::int64_t asked = 0;
    std::int64_t active = 0;
    Steps steps;
    for (const int rank : {0, args.root, args.ranks / 2, args.ranks - 1}) {
        asked += rounds;
        for (auto k = schedule.next_active(rank, 0); k < rounds; k = schedule.next_active(rank, k + 1)) {
            ++active;
            steps.clear();
            schedule.round(rank, k, steps);
            const auto count = [&](Step::Kind kind) { return std::ranges::count(steps.all(), kind, &Step::kind); };
            if (count(Step::Kind::send) > 1 || count(Step::Kind::receive) > 1) return true;
        }
    }
    constexpr int kWorthIt = 8;  // an event takes about as long as so many ranks' rounds
    return active * kWorthIt < asked;
}

}  // namespace

template <std::size_t kTerms>
std::optional<Moment<kTerms>> last_by_level(const Algorithm& algorithm, const CollectiveArguments& args,
                                            const Costs& costs) {
    // Messages pass shared links in the order of time, which rounds don't keep.
    if (SharedLinks<Moment<kTerms>>::shares(costs, args.topology)) return std::nullopt;
    const auto schedule = prepare(algorithm, args);
    // Two messages a round at most: the bound on those under way is never reached.
    if (2 * schedule->rounds() > most_under_way(algorithm, args)) return std::nullopt;
    if (is_for_events(*schedule, args)) return std::nullopt;
    try {
        return Levels<Moment<kTerms>>(*schedule, args, costs).run();
    } catch (const NotByLevel&) {
        return std::nullopt;
    }
}

template std::optional<Moment<0>> last_by_level(const Algorithm&, const CollectiveArguments&, const Costs&);
template std::optional<Moment<kFewTerms>> last_by_level(const Algorithm&, const CollectiveArguments&, const Costs&);
template std::optional<Moment<kMostTerms>> last_by_level(const Algorithm&, const CollectiveArguments&, const Costs&);

}  // namespace timpani
