#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "schedule/channels.hpp"
#include "schedule/dependencies.hpp"
#include "schedule/numbered.hpp"
#include "schedule/schedule.hpp"

namespace timpani {

/// Advances all ranks of one call through a schedule. A rank takes its steps in order, each once the messages that it
/// waits for have ended (schedule/dependencies.hpp); the k-th send to a peer meets its k-th receive from there; nothing
/// is buffered. What a step does and when a message ends, `Policy` says:
///
///     Note                                        what it keeps of a message from its posting to its end
///     void check(Place, const Step&)              a step comes up, before it waits
///     Note begin(Place, round, const Step&, span) a step begins, having waited for the messages with those numbers;
///                                                 a local one does its work
///     void meet(const Meeting&)                   both sides of a message have been posted; then or later the policy
///                                                 has the engine end it
///
/// Rounds are asked for as they are reached, and nothing is kept of steps that have ended.
template <class Policy>
class Engine {
  public:
    using Note = typename Policy::Note;
    struct Posted {
        Step step{};
        std::int64_t round = 0;
        Note note{};
    };
    /// The two sides of a message.
    struct Meeting {
        Place send;
        Place receive;
    };

    Engine(const Schedule& schedule, int ranks, std::int64_t most_under_way, Policy& policy)
        : schedule_(schedule), rounds_(schedule.rounds()), policy_(policy) {
        ranks_.reserve(static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) ranks_.emplace_back(most_under_way);
    }

    /// Lets every rank begin, and all go as far as they can.
    void start() {
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) advance(rank);
        go_on();
    }
    /// Lets the ranks whose messages have ended go as far as they can.
    void go_on() {
        while (!ready_.empty()) {
            const int rank = ready_.front();
            ready_.pop_front();
            advance(rank);
        }
    }

    /// A posted side of a message that has not ended.
    [[nodiscard]] const Posted& posted(const Place& place) { return *at(place.rank).posted.find(place.number); }

    /// Both sides end; the ranks go on with go_on().
    void end(const Meeting& message) {
        for (const Place& place : {message.send, message.receive}) {
            Rank& rank = at(place.rank);
            rank.posted.take(place.number);
            if (rank.waits) ready_.push_back(place.rank);
        }
    }

    /// The first step that has not ended, of the first rank that has not; nothing once all have.
    struct Stuck {
        Place place;
        Step step;
    };
    [[nodiscard]] std::optional<Stuck> stuck() {
        for (int number = 0; number < static_cast<int>(ranks_.size()); ++number) {
            Rank& rank = at(number);
            if (!rank.posted.empty()) {
                const Place place{number, rank.posted.front()};
                return Stuck{place, posted(place).step};
            }
            if (rank.waits) return Stuck{{number, rank.next_number}, rank.steps.all()[rank.next]};
        }
        return std::nullopt;
    }

  private:
    struct Rank {
        explicit Rank(std::int64_t most_under_way) : dependencies(most_under_way) {}

        Steps steps;           // of the round that it is in
        std::size_t next = 0;  // of those
        std::int64_t next_number = 0;
        std::int64_t next_round = 0;
        bool waits = false;     // with the next step, for what `dependencies` found
        std::size_t ended = 0;  // of those
        DependencyTracker dependencies;
        Numbered<Posted> posted;
    };

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    /// Takes steps of `rank` until one has to wait.
    void advance(int number) {
        Rank& rank = at(number);
        while (rank.waits || has_next(number, rank)) {
            const Step& step = rank.steps.all()[rank.next];
            const Place place{number, rank.next_number};
            if (!rank.waits) {
                policy_.check(place, step);
                rank.dependencies.add(step);
                rank.ended = 0;
            }
            const auto found = rank.dependencies.found();
            while (rank.ended < found.size() && rank.posted.find(found[rank.ended]) == nullptr) ++rank.ended;
            rank.waits = rank.ended < found.size();
            if (rank.waits) return;
            ++rank.next;
            ++rank.next_number;
            begin(place, rank, step, found);
        }
    }

    bool has_next(int number, Rank& rank) {
        while (rank.next == rank.steps.all().size()) {
            if (rank.next_round < rounds_) rank.next_round = schedule_.next_active(number, rank.next_round);
            if (rank.next_round >= rounds_) return false;
            rank.steps.clear();
            rank.next = 0;
            schedule_.round(number, rank.next_round++, rank.steps);
        }
        return true;
    }

    void begin(const Place& place, Rank& rank, const Step& step, std::span<const std::int64_t> waited) {
        const std::int64_t round = rank.next_round - 1;
        Note note = policy_.begin(place, round, step, waited);
        if (!step.is_message()) return;
        rank.posted.add(place.number, {step, round, std::move(note)});
        const bool sends = step.kind == Step::Kind::send;
        const auto other = channels_.post(sends ? place.rank : step.peer, sends ? step.peer : place.rank, place);
        if (other) policy_.meet(sends ? Meeting{place, *other} : Meeting{*other, place});
    }

    const Schedule& schedule_;
    std::int64_t rounds_;
    Policy& policy_;
    std::vector<Rank> ranks_;
    std::deque<int> ready_;
    Channels channels_;
};

}  // namespace timpani
