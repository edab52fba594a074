#include "simulate/by_level.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "schedule/dependencies.hpp"

namespace timpani {

namespace {

/// Raised where levels don't tell.
struct NotByLevel : std::exception {};

/// The messages of one direction that a rank may have under way, and its port, which one at a time flows through.
struct Port {
    double until = 0;  // the last one's end
    double since = 0;  // without a break
    double last_start = 0;
    std::int64_t first = 0;  // all that those under way touch lies in [first, end) of `buffer`
    std::int64_t end = 0;
    Buffer buffer = Buffer::send;
    std::uint8_t open = 0;  // how many may be under way: 2 for several
    bool notifies = false;  // those are without data

    [[nodiscard]] Region region() const { return {buffer, first, end - first}; }

    void open_one(const Region& region, double now) {
        if (until <= now) open = 0;
        if (open > 0 && (buffer != region.buffer || notifies != (region.count == 0))) throw NotByLevel();
        first = open > 0 ? std::min(first, region.first) : region.first;
        end = open > 0 ? std::max(end, region.end()) : region.end();
        buffer = region.buffer;
        notifies = region.count == 0;
        open = open > 0 ? 2 : 1;
    }
};

/// One side of the message that a rank has posted in this round.
struct Side {
    int peer = -1;  // −1 for none
    double posted = 0;
    std::int64_t count = 0;
};

struct Rank {
    double now = 0;  // when it may begin its next step
    Port sends;
    Port receives;
    Side sent;
    Side received;
    int done = 0;       // of the steps of its round
    bool left = false;  // whether any are left, which wait for the messages of this round
};

class Levels {
  public:
    Levels(const Schedule& schedule, const CollectiveArguments& args, const Costs& costs)
        : schedule_(schedule), args_(args), costs_(costs), ranks_(static_cast<std::size_t>(args.ranks)) {}

    double run() {
        const auto rounds = schedule_.rounds();
        for (std::int64_t k = 0; k <= rounds; ++k) {
            for (int rank = 0; rank < args_.ranks; ++rank) {
                Rank& each = at(rank);
                if (each.sent.peer >= 0) throw NotByLevel();  // nobody has received it
                if (each.left) finish(rank, each, k - 1);
                each.received.peer = -1;
                if (k < rounds) begin(rank, each, k);
            }
            for (int rank = 0; rank < args_.ranks; ++rank) {
                if (at(rank).received.peer >= 0) flow(rank);
            }
        }
        return last_;
    }

  private:
    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] double bytes(std::int64_t count) const { return static_cast<double>(count * args_.element_bytes); }

    /// Takes steps up to the first that waits for a message of this round.
    void begin(int rank, Rank& each, std::int64_t k) {
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
        if (sent != nullptr) each.sends.open_one(sent->from, each.now);
        if (received != nullptr) each.receives.open_one(received->to, each.now);
    }

    /// Takes the rest of them.
    void finish(int rank, Rank& each, std::int64_t k) {
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
    static void wait(Rank& each, const Step& step) {
        const auto wait_for = [&](Port& port) {
            if (port.open > 1) throw NotByLevel();
            each.now = port.until;
            port.open = 0;
        };
        Port& sends = each.sends;
        Port& receives = each.receives;
        if (sends.open > 0 && sends.until > each.now && step.writes(sends.region())) wait_for(sends);
        if (receives.open == 0 || receives.until <= each.now) return;
        const bool shares = step.reads(receives.region()) || step.writes(receives.region());
        const bool awaits_all = receives.notifies && step.notifies();
        if (awaits_all) receives.open = 1;  // the last to end counts
        if (shares || awaits_all) wait_for(receives);
    }

    void compute(Rank& each, const Step& step) {
        if (step.kind == Step::Kind::reduce) each.now += costs_.gamma * bytes(step.from.count);
        last_ = std::max(last_, each.now);
    }

    /// Lets the message flow that `number` receives.
    void flow(int number) {
        Rank& receiver = at(number);
        Rank& sender = at(receiver.received.peer);
        if (sender.sent.peer != number || sender.sent.count != receiver.received.count) throw NotByLevel();
        Port& out = sender.sends;
        Port& in = receiver.receives;
        const double both = std::max(sender.sent.posted, receiver.received.posted);
        // Before this, others of the sender's flowed without a break; and of the receiver's all began before.
        if (both < out.since || (both <= in.last_start && in.until > 0)) throw NotByLevel();
        const double start = std::max({both, out.until, in.until});
        if (start > out.until) out.since = start;
        in.last_start = out.last_start = start;
        out.until = in.until = start + costs_.alpha + costs_.beta * bytes(sender.sent.count);
        last_ = std::max(last_, out.until);
        sender.sent.peer = -1;
    }

    const Schedule& schedule_;
    const CollectiveArguments& args_;
    Costs costs_;
    std::vector<Rank> ranks_;
    Steps steps_;
    double last_ = 0;
};

}  // namespace

std::optional<double> simulate_by_level(const Algorithm& algorithm, const CollectiveArguments& args,
                                        const Costs& costs) {
    const auto schedule = prepare(algorithm, args);
    // Two messages a round at most: the bound on those under way is never reached.
    if (2 * schedule->rounds() > most_under_way(algorithm, args)) return std::nullopt;
    try {
        return Levels(*schedule, args, costs).run();
    } catch (const NotByLevel&) {
        return std::nullopt;
    }
}

}  // namespace timpani
