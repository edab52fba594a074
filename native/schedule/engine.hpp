#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "schedule/dependencies.hpp"
#include "schedule/message_pool.hpp"
#include "schedule/schedule.hpp"
#include "schedule/symmetry.hpp"

namespace timpani {

/// Advances all ranks of one call through a schedule. A rank takes its steps in order, each once the messages that it
/// waits for have ended (schedule/dependencies.hpp); the k-th send to a peer meets its k-th receive from there; nothing
/// is buffered. What a step does and when a message ends, `Policy` says:
///
///     kAsksForWaited                              whether begin() is to be told of messages that had ended before the
///                                                 step came up; else they are forgotten earlier
///     Note                                        what it keeps of a message from its posting to its end
///     void check(Place, const Step&)              a step comes up, before it waits
///     Note begin(Place, round, const Step&, span) a step begins, having waited for the messages with those numbers;
///                                                 a local one does its work
///     void meet(int send)                         both sides of the message with this send have been posted; then or
///                                                 later the policy has the engine end it
///
/// Of a rank only its messages are kept and where it is: it asks for its round again whenever it goes on.
template <class Policy>
class Engine {
  public:
    using Note = typename Policy::Note;

    /// With a symmetry, only rank 0 is advanced, for all: what its peer posts at the other side of a message it has
    /// posted itself, towards the rank to which it is what the peer is to it.
    Engine(const Schedule& schedule, int ranks, std::int64_t most_under_way, Policy& policy,
           Symmetry symmetry = Symmetry::none)
        : schedule_(schedule),
          rounds_(schedule.rounds()),
          most_under_way_(most_under_way),
          policy_(policy),
          symmetry_(symmetry),
          all_ranks_(ranks),
          ranks_(symmetry == Symmetry::none ? static_cast<std::size_t>(ranks) : 1) {}

    /// Lets every rank begin, and all go as far as they can.
    void start() {
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
            if (enter(rank, 0)) take_steps(rank);
        }
        go_on();
    }
    /// Lets the ranks whose messages have ended go as far as they can.
    void go_on() {
        while (!ready_.empty()) {
            const int rank = ready_.front();
            ready_.pop_front();
            ask(rank);
            begin_next(rank);
            take_steps(rank);
        }
    }

    /// A side of a message that has not ended, by its number in the pool.
    [[nodiscard]] Message<Note>& posted(int side) { return messages_[side]; }

    /// Both sides of the message with this send end; the ranks go on with go_on().
    void end(int send) {
        for (const int side : {send, messages_[send].other}) {
            Message<Note>& ended = messages_[side];
            Rank& rank = at(ended.rank);
            ended.ended = true;
            if (ended.waited && --rank.missing == 0) ready_.push_back(ended.rank);
            if (rank.round >= rounds_) {
                rank.messages.remove(messages_, side);
            } else if constexpr (!Policy::kAsksForWaited) {
                rank.messages.remove_ended_front(messages_);
            }
        }
    }

    /// The first step that has not ended, of the first rank that has not; nothing once all have.
    struct Stuck {
        Place place;
        Step step;
    };
    [[nodiscard]] std::optional<Stuck> stuck() {
        for (int number = 0; number < static_cast<int>(ranks_.size()); ++number) {
            std::optional<Stuck> found;
            at(number).messages.for_each(messages_, [&](int side) {
                const Message<Note>& message = messages_[side];
                if (!found && !message.ended) found = Stuck{message.place(), message.step()};
            });
            if (found) return found;
        }
        return std::nullopt;
    }

  private:
    struct Rank {
        std::int64_t round = 0;   // that it is in
        std::int64_t number = 0;  // of its next step among all
        int next = 0;             // its next step in that round
        int missing = 0;          // messages that have not ended and that this step waits for
        DependencyTracker<Note> messages;
    };

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    /// Takes the rank to the first round from `round` on in which it does anything. Whether there is one.
    bool enter(int number, std::int64_t round) {
        Rank& rank = at(number);
        rank.next = 0;
        for (rank.round = round; rank.round < rounds_; ++rank.round) {
            rank.round = schedule_.next_active(number, rank.round);
            if (rank.round >= rounds_) break;
            ask(number);
            if (!steps_.all().empty()) return true;
        }
        rank.round = rounds_;
        rank.messages.remove_ended(messages_);
        return false;
    }
    /// Asks for the steps of the round that the rank is in.
    void ask(int number) {
        const std::pair wanted(number, at(number).round);
        if (asked_ == wanted) return;
        asked_ = wanted;
        steps_.clear();
        schedule_.round(wanted.first, wanted.second, steps_);
    }
    [[nodiscard]] const Step& next_step(const Rank& rank) const {
        return steps_.all()[static_cast<std::size_t>(rank.next)];
    }

    /// Takes steps of the rank until one has to wait.
    void take_steps(int number) {
        Rank& rank = at(number);
        do {
            while (rank.next < static_cast<int>(steps_.all().size())) {
                const Step& step = next_step(rank);
                policy_.check({number, rank.number}, step);
                rank.missing = rank.messages.find(messages_, step, rank.number, most_under_way_);
                if (rank.missing > 0) return;
                begin_next(number);
            }
        } while (enter(number, rank.round + 1));
    }

    void begin_next(int number) {
        Rank& rank = at(number);
        const Step& step = next_step(rank);
        const Place place{number, rank.number};
        waited_.clear();
        rank.messages.remove_waited(messages_, [&](const auto& message) { waited_.push_back(message.number); });
        ++rank.next;
        ++rank.number;
        Note note = policy_.begin(place, rank.round, step, waited_);
        if (!step.is_message()) return;
        const bool sends = step.kind == Step::Kind::send;
        const auto other_kind = sends ? Step::Kind::receive : Step::Kind::send;
        const int other = symmetry_ == Symmetry::none
                              ? at(step.peer).messages.meet(messages_, other_kind, number)
                              : rank.messages.meet(messages_, other_kind, mirrored(symmetry_, all_ranks_, step.peer));
        const int side = messages_.add({step, place, rank.round, std::move(note), other >= 0});
        rank.messages.add(messages_, side);
        if (other < 0) return;
        messages_[side].other = other;
        messages_[other].other = side;
        policy_.meet(sends ? side : other);
    }

    const Schedule& schedule_;
    std::int64_t rounds_;
    std::int64_t most_under_way_;
    Policy& policy_;
    Symmetry symmetry_;
    int all_ranks_;
    std::vector<Rank> ranks_;
    std::deque<int> ready_;
    MessagePool<Note> messages_;
    Steps steps_;  // of the rank and round that were asked for last
    std::pair<int, std::int64_t> asked_{-1, 0};
    std::vector<std::int64_t> waited_;  // by the step that begins
};

}  // namespace timpani
