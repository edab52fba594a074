#include "simulate/clock.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "schedule/dependencies.hpp"

namespace timpani {

namespace {

constexpr double kNotEnded = -1;

/// The state of one rank. Rounds are asked for as they are reached.
struct Rank {
    std::vector<Event> events;  // of the steps known so far; `end` is kNotEnded until a step has ended
    std::size_t next = 0;       // step to issue
    std::int64_t rounds = 0;    // asked for
    double now = 0;             // when the rank may issue its next step
    double sending_until = 0;
    double receiving_until = 0;
    std::optional<std::vector<std::int64_t>> depends_on;  // the next step; nothing until it was asked for
    DependencyTracker dependencies;
};

/// A step of a rank.
struct Place {
    int rank;
    std::size_t number;
};

/// A message that both sides have posted.
struct Transfer {
    double start;  // not before this
    Place send;
    Place receive;
    /// Of those that could start together each rank sends and receives in the order of its steps.
    friend bool operator>(const Transfer& a, const Transfer& b) {
        return std::tuple(a.start, a.send.number, a.receive.number, a.send.rank, a.receive.rank) >
               std::tuple(b.start, b.send.number, b.receive.number, b.send.rank, b.receive.rank);
    }
};

class Simulation {
  public:
    Simulation(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs)
        : algorithm_(algorithm),
          args_(args),
          costs_(costs),
          rounds_(algorithm.rounds(args)),
          ranks_(static_cast<std::size_t>(args.ranks)) {
        for (Rank& rank : ranks_) rank.dependencies = DependencyTracker(algorithm, args);
    }

    std::vector<Event> run() {
        for (int rank = 0; rank < args_.ranks; ++rank) advance(rank);
        while (!transfers_.empty()) {
            Transfer transfer = transfers_.top();
            transfers_.pop();
            const Rank& sender = at(transfer.send.rank);
            const Rank& receiver = at(transfer.receive.rank);
            const double free = std::max(sender.sending_until, receiver.receiving_until);
            if (free > transfer.start) {
                transfer.start = free;
                transfers_.push(transfer);
            } else {
                transfer_data(transfer);
            }
        }
        std::vector<Event> all;
        for (const Rank& rank : ranks_) {
            const bool stuck = std::ranges::any_of(rank.events, [](const Event& e) { return e.end == kNotEnded; });
            if (stuck || rank.rounds < rounds_) {
                throw std::runtime_error("rank " + std::to_string(&rank - ranks_.data()) + " waits for ever");
            }
            all.insert(all.end(), rank.events.begin(), rank.events.end());
        }
        return all;
    }

  private:
    using Channel = std::pair<int, int>;  // sender, receiver

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    Event& at(const Place& place) { return at(place.rank).events[place.number]; }

    [[nodiscard]] double bytes(const Region& region) const {
        return static_cast<double>(region.count * args_.element_bytes);
    }

    /// Issues steps of `rank` until one has to wait.
    void advance(int rank) {
        Rank& each = at(rank);
        while (has_next(rank, each)) {
            const Step step = each.events[each.next].step;
            if (!each.depends_on) each.depends_on = each.dependencies.add(step);
            double ready = each.now;
            for (const auto earlier : *each.depends_on) {
                const double end = each.events[static_cast<std::size_t>(earlier)].end;
                if (end == kNotEnded) return;
                ready = std::max(ready, end);
            }
            each.depends_on.reset();
            each.now = ready;
            issue({rank, each.next++}, step);
        }
    }

    bool has_next(int rank, Rank& each) {
        while (each.next == each.events.size() && each.rounds < rounds_) {
            Steps steps;
            algorithm_.round(args_, rank, each.rounds, steps);
            for (const Step& step : steps.all()) each.events.push_back({rank, each.rounds, step, kNotEnded, kNotEnded});
            ++each.rounds;
        }
        return each.next < each.events.size();
    }

    void issue(const Place& place, const Step& step) {
        Rank& each = at(place.rank);
        switch (step.kind) {
            case Step::Kind::send:
                post(sends_, receives_, {place.rank, step.peer}, place);
                break;
            case Step::Kind::receive:
                post(receives_, sends_, {step.peer, place.rank}, place);
                break;
            case Step::Kind::copy:
            case Step::Kind::reduce:
                at(place).start = each.now;
                if (step.kind == Step::Kind::reduce) each.now += costs_.gamma * bytes(step.from);
                at(place).end = each.now;
                break;
        }
    }

    using Queues = std::map<Channel, std::deque<Place>>;

    void post(Queues& own, Queues& other, const Channel& channel, const Place& place) {
        at(place).start = at(place.rank).now;
        auto& waiting = other[channel];
        if (waiting.empty()) {
            own[channel].push_back(place);
            return;
        }
        const Place partner = waiting.front();
        waiting.pop_front();
        const bool sends = &own == &sends_;
        transfers_.push(
            {std::max(at(place).start, at(partner).start), sends ? place : partner, sends ? partner : place});
    }

    void transfer_data(const Transfer& transfer) {
        Event& send = at(transfer.send);
        Event& receive = at(transfer.receive);
        const double end = transfer.start + costs_.alpha + costs_.beta * bytes(send.step.from);
        send.start = receive.start = transfer.start;
        send.end = receive.end = end;
        at(transfer.send.rank).sending_until = end;
        at(transfer.receive.rank).receiving_until = end;
        advance(transfer.send.rank);
        advance(transfer.receive.rank);
    }

    const Algorithm& algorithm_;
    CollectiveArguments args_;
    Costs costs_;
    std::int64_t rounds_;
    std::vector<Rank> ranks_;
    Queues sends_;
    Queues receives_;
    std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> transfers_;
};

}  // namespace

std::vector<Event> simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs) {
    return Simulation(algorithm, args, costs).run();
}

double completion(const std::vector<Event>& events) {
    double last = 0;
    for (const Event& event : events) last = std::max(last, event.end);
    return last;
}

}  // namespace timpani
