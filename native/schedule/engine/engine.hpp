#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "schedule/algorithm.hpp"
#include "schedule/engine/dependencies.hpp"
#include "schedule/engine/message_pool.hpp"

namespace timpani {

/// Advances all ranks of one call through a schedule. A rank takes its steps in order. Each step starts when the
/// messages that it waits for have ended (schedule/engine/dependencies.hpp). The k-th send to a peer matches the k-th
/// receive there; nothing is buffered. `Policy` defines what a step does and when a message ends:
///
///     kListsWaited                                whether begin() also gets messages that ended before the step
///                                                 was next; if not, the engine forgets them earlier
///     Note                                        what the policy stores with a message from its posting to its end
///     RankState                                   what it stores with a rank
///     void check(Place, const Step&)              a step is next, and has not waited yet
///     Note begin(Place, round, const Step&, span) a step starts, having waited for the messages with those numbers;
///                                                 a local step does its work
///     void meet(int send)                         both sides of the message with this send are posted; then or later
///                                                 the policy calls end()
///     void ready(int rank)                        the last message that the rank's next step waits for has ended
///
/// A rank's state is its position and its messages; it computes its round's steps again each time it advances. With a
/// million ranks, memory accesses would take most of the time. So the engine prefetches what the next ranks will touch
/// while earlier ones take their steps.
template <class Policy>
class Engine {
  public:
    using Note = typename Policy::Note;
    using RankState = typename Policy::RankState;

    /// With a symmetry only rank 0 is simulated. By symmetry its own posts stand in for those of its peers.
    Engine(const Schedule& schedule, int ranks, std::int64_t max_messages_under_way, Policy& policy,
           Symmetry symmetry = Symmetry::none)
        : schedule_(schedule),
          rounds_(schedule.rounds()),
          max_under_way_(max_messages_under_way),
          policy_(policy),
          symmetry_(symmetry),
          all_ranks_(ranks),
          ranks_(symmetry == Symmetry::none ? static_cast<std::size_t>(ranks) : 1) {}

    /// Advances every rank from its first step as far as it can.
    void start() {
        for (int rank = 0; rank < number_of_ranks(); ++rank) {
            if (enter(rank, 0)) take_steps(rank);
        }
        advance();
    }
    /// Advances the ranks whose messages have ended as far as they can, in the order in which they became ready.
    void advance() {
        std::size_t ranks = 0;  // prefetched so far; likewise the next two
        std::size_t peers = 0;
        std::size_t messages = 0;
        for (std::size_t i = 0; i < ready_.size(); ++i) {
            const auto until = [&](std::size_t ahead) { return std::min(i + ahead, ready_.size()); };
            for (; ranks < until(kRanksAhead); ++ranks) prefetch_rank(ready_[ranks]);
            for (; peers < until(kRanksAhead / 2); ++peers) fetch_peers(peers);
            for (; messages < until(kRanksAhead / 4); ++messages) fetch_messages_of_peers(messages);
            now_ = &round_steps_[i % kRanksAhead];
            begin_next(ready_[i]);
            take_steps(ready_[i]);
        }
        ready_.clear();
    }

    [[nodiscard]] int number_of_ranks() const { return static_cast<int>(ranks_.size()); }
    [[nodiscard]] RankState& state(int rank) { return at(rank).state; }
    /// A side of a message that has not ended, by its number in the pool.
    [[nodiscard]] Message<Note>& posted(int side) { return messages_[side]; }

    // Prefetch what will be used soon.
    void prefetch_rank(int rank) { prefetch(&at(rank)); }
    void prefetch_posted(int side) { messages_.fetch(side); }
    /// Prefetches the other side of this send and the two ranks. The send itself must be in the cache.
    void prefetch_other_side(int send) {
        const Message<Note>& message = messages_[send];
        messages_.fetch(message.other);
        prefetch_rank(message.rank);
        prefetch_rank(simulated_rank(message.peer));
    }

    /// Ends both sides of the message with this send. advance() then advances the ranks.
    void end(int send) {
        for (const int side : {send, messages_[send].other}) {
            Message<Note>& ended = messages_[side];
            Rank& rank = at(ended.rank);
            ended.ended = true;
            if (ended.waited && --rank.missing == 0) {
                ready_.push_back(ended.rank);
                policy_.ready(ended.rank);
            }
            if (rank.round >= rounds_) {
                rank.messages.remove(messages_, side);
            } else if constexpr (!Policy::kListsWaited) {
                rank.messages.remove_ended_front(messages_);
            }
        }
    }

    /// The first posted message that has not ended, of the first rank that has one; nothing if all ranks have finished.
    struct Stuck {
        Place place;
        Step step;
    };
    [[nodiscard]] std::optional<Stuck> stuck() {
        std::optional<Stuck> found;
        for_each_unended([&](const Message<Note>& message) {
            if (!found) found = Stuck{message.place(), message.step()};
        });
        return found;
    }
    /// Calls `visit` with each side of a message that is posted and has not ended, by rank, the oldest first.
    template <class Visit>
    void for_each_unended(const Visit& visit) {
        for (const Rank& rank : ranks_) {
            rank.messages.for_each(messages_, [&](int side) {
                if (!messages_[side].ended) visit(std::as_const(messages_[side]));
            });
        }
    }

  private:
    struct alignas(kCacheLine) Rank {
        [[no_unique_address]] RankState state{};
        std::int64_t round = 0;   // the current one
        std::int64_t number = 0;  // of its next step, counted over all rounds
        int next = 0;             // its next step in the round
        int missing = 0;          // messages that have not ended and that this step waits for
        DependencyTracker<Note> messages;
    };

    /// The steps of a rank in a round.
    struct RoundSteps {
        int rank = -1;
        std::int64_t round = 0;
        Steps steps;
    };

    /// How many ranks ahead to prefetch, and how many steps of each.
    static constexpr std::size_t kRanksAhead = 16;
    static constexpr std::size_t kStepsAhead = 4;

    /// The simulated rank that stands in for `rank`.
    [[nodiscard]] int simulated_rank(int rank) const { return symmetry_ == Symmetry::none ? rank : 0; }
    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    /// Moves the rank to the first round, `round` or later, in which it has steps. Returns whether there is one.
    bool enter(int number, std::int64_t round) {
        Rank& rank = at(number);
        rank.next = 0;
        for (rank.round = round; rank.round < rounds_; ++rank.round) {
            rank.round = schedule_.next_active(number, rank.round);
            if (rank.round >= rounds_) break;
            compute_steps(number);
            if (!now_->steps.all().empty()) return true;
        }
        rank.round = rounds_;
        rank.messages.remove_ended(messages_);
        return false;
    }
    /// Computes the steps of the rank's current round.
    void compute_steps(int number) {
        const std::int64_t round = at(number).round;
        if (now_->rank == number && now_->round == round) return;
        now_->rank = number;
        now_->round = round;
        now_->steps.clear();
        schedule_.round(number, round, now_->steps);
    }
    [[nodiscard]] const Step& next_step(const Rank& rank) const {
        return now_->steps.all()[static_cast<std::size_t>(rank.next)];
    }

    /// Calls `visit` with the peers of the first messages that the i-th ready rank will post.
    template <class Visit>
    void for_each_peer(std::size_t i, const Visit& visit) {
        const auto steps =
            round_steps_[i % kRanksAhead].steps.all().subspan(static_cast<std::size_t>(at(ready_[i]).next));
        for (const Step& step : steps.first(std::min(kStepsAhead, steps.size()))) {
            if (step.is_message()) visit(simulated_rank(step.peer));
        }
    }
    void fetch_peers(std::size_t i) {
        now_ = &round_steps_[i % kRanksAhead];
        compute_steps(ready_[i]);
        for_each_peer(i, [this](int peer) { prefetch_rank(peer); });
    }
    void fetch_messages_of_peers(std::size_t i) {
        for_each_peer(i, [this](int peer) {
            const int newest = at(peer).messages.newest_of_few();
            if (newest >= 0) messages_.fetch(newest);
        });
    }

    /// Takes steps of the rank until a step has to wait.
    void take_steps(int number) {
        Rank& rank = at(number);
        do {
            while (rank.next < static_cast<int>(now_->steps.all().size())) {
                const Step& step = next_step(rank);
                policy_.check({number, rank.number}, step);
                rank.missing = rank.messages.find(messages_, step, rank.number, max_under_way_);
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
    std::int64_t max_under_way_;
    Policy& policy_;
    Symmetry symmetry_;
    int all_ranks_;
    std::vector<Rank> ranks_;
    std::vector<int> ready_;  // to be advanced
    TrackedMessages<Note> messages_;
    std::array<RoundSteps, kRanksAhead> round_steps_;  // of the next ranks to be advanced
    RoundSteps* now_ = round_steps_.data();            // of the rank that takes steps
    std::vector<std::int64_t> waited_;                 // messages that the starting step waited for
};

}  // namespace timpani
