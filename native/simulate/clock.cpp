#include "simulate/clock.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/engine.hpp"
#include "simulate/by_level.hpp"
#include "simulate/radix_heap.hpp"

namespace timpani {

namespace {

/// The policy of an engine for which a message takes time.
class Clock {
  public:
    Clock(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, const Tell& tell)
        : schedule_(prepare(algorithm, args)),
          element_bytes_(args.element_bytes),
          costs_(costs),
          tell_(tell),
          ranks_(static_cast<std::size_t>(args.ranks)),
          engine_(*schedule_, args.ranks, most_under_way(algorithm, args), *this) {}

    double run() {
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
    using Note = double;  // when the message was posted
    void check(const Place& /*place*/, const Step& /*step*/) {}
    Note begin(const Place& place, std::int64_t round, const Step& step, std::span<const std::int64_t> /*waited*/) {
        double& now = at(place.rank).now;
        now = std::max(now, time_);  // when what it waited for has ended
        if (step.is_message()) return now;
        const double start = now;
        if (step.kind == Step::Kind::reduce) now += costs_.gamma * bytes(step.from);
        tell({place.rank, place.number, round, step, start, now});
        return now;
    }
    void meet(const Engine<Clock>::Meeting& message) {
        const double both = std::max(engine_.posted(message.send).note, engine_.posted(message.receive).note);
        transfers_.add(both, {message, both, false});
    }

  private:
    struct Rank {
        double now = 0;  // when it may begin its next step
        double sending_until = 0;
        double receiving_until = 0;
    };

    /// A message that both sides have posted: to begin when it comes up, or one that flows since `start`, to end.
    struct Transfer {
        Engine<Clock>::Meeting message;
        double start;
        bool flows;
        /// Of those that could start together each rank sends and receives in the order of its steps.
        friend bool operator>(const Transfer& a, const Transfer& b) {
            const auto key = [](const Transfer& each) {
                const auto& [send, receive] = each.message;
                return std::tuple(send.number, receive.number, send.rank, receive.rank);
            };
            return key(a) > key(b);
        }
    };

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] double bytes(const Region& region) const {
        return static_cast<double>(region.count * element_bytes_);
    }

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
        double& sending_until = at(transfer.message.send.rank).sending_until;
        double& receiving_until = at(transfer.message.receive.rank).receiving_until;
        const double free = std::max(sending_until, receiving_until);
        if (free > time_) {
            transfers_.add(free, transfer);
            return;
        }
        transfer.start = time_;
        transfer.flows = true;
        sending_until = receiving_until =
            time_ + costs_.alpha + costs_.beta * bytes(engine_.posted(transfer.message.send).step.from);
        transfers_.add(sending_until, transfer);
    }

    void end(const Transfer& transfer) {
        for (const Place& place : {transfer.message.send, transfer.message.receive}) {
            const auto& [step, round, posted] = engine_.posted(place);
            tell({place.rank, place.number, round, step, transfer.start, time_});
        }
        engine_.end(transfer.message);
        engine_.go_on();
    }

    void tell(const Event& event) {
        last_ = std::max(last_, event.end);
        if (tell_) tell_(event);
    }

    std::unique_ptr<const Schedule> schedule_;
    std::int64_t element_bytes_;
    Costs costs_;
    const Tell& tell_;
    double time_ = 0;
    double last_ = 0;
    std::vector<Rank> ranks_;
    RadixHeap<Transfer> transfers_;
    std::vector<Transfer> beginning_;  // those that could begin now, the last to begin first
    Engine<Clock> engine_;
};

}  // namespace

double simulate(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs, const Tell& tell) {
    if (!tell) {
        if (const auto time = simulate_by_level(algorithm, args, costs)) return *time;
    }
    return Clock(algorithm, args, costs, tell).run();
}

}  // namespace timpani
