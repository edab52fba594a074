#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schedule/algorithm.hpp"
#include "schedule/engine/indexed_messages.hpp"
#include "schedule/engine/listed_messages.hpp"
#include "schedule/engine/message_pool.hpp"

namespace timpani {

/// Maximum number of messages that a rank may have under way. If the algorithm sets no bound, only a pipeline of many
/// segments reaches it.
std::int64_t max_messages_under_way(const Algorithm& algorithm, const CollectiveArguments& args);

/// The messages of the trackers that share it, and an index of the messages of each tracker that has many.
template <class Note>
class TrackedMessages : public MessagePool<Note> {
  public:
    int add_index() {
        if (free_.empty()) {
            indexes_.push_back(std::make_unique<IndexedMessages<Note>>());
            return static_cast<int>(indexes_.size()) - 1;
        }
        const int number = free_.back();
        free_.pop_back();
        return number;
    }
    void remove_index(int number) {
        index(number) = {};
        free_.push_back(number);
    }
    [[nodiscard]] IndexedMessages<Note>& index(int number) { return *indexes_[static_cast<std::size_t>(number)]; }
    [[nodiscard]] const IndexedMessages<Note>& index(int number) const {
        return *indexes_[static_cast<std::size_t>(number)];
    }

  private:
    std::vector<std::unique_ptr<IndexedMessages<Note>>> indexes_;
    std::vector<int> free_;
};

/// The messages of one rank that no step has waited for yet, and which of them each step must wait for. Steps are added
/// in order. A step waits for the messages that share data with it, for those that notifications order before it, and
/// for the oldest if too many are under way. A local step ends before the next step starts, so nothing waits for it.
///
/// The messages lie in a pool that many ranks may share. A tracker itself has 8 bytes, which matters for a million
/// ranks.
template <class Note>
class DependencyTracker {
  public:
    using Pool = TrackedMessages<Note>;

    /// Adds `step`, the rank's next one, under its number, and marks the messages that it waits for. Returns how many
    /// of them have not ended.
    int find(Pool& pool, const Step& step, std::int64_t number, std::int64_t max_messages_under_way) {
        list_or_index(pool);
        int found = 0;
        int missing = 0;
        const auto wait_for = [&](int id) {
            Message<Note>& message = pool[id];
            if (message.waited) return;
            message.waited = true;
            ++found;
            missing += message.ended ? 0 : 1;
            if (is_many_) index(pool).waited.push_back(id);
        };
        if (is_many_) {
            index(pool).visit_dependencies(pool, step, number, wait_for);
        } else {
            few_.visit_dependencies(pool, step, wait_for);
        }
        if (step.is_message() && size(pool) - found >= max_messages_under_way) {
            wait_for(is_many_ ? index(pool).oldest_not_waited(pool) : few_.oldest_not_waited(pool));
        }
        return missing;
    }
    /// Removes the marked messages, the oldest first, and calls `visit` with each.
    template <class Visit>
    void remove_waited(Pool& pool, const Visit& visit) {
        const auto remove_one = [&](int id) {
            visit(pool[id]);
            remove(pool, id);
        };
        if (!is_many_) {
            few_.for_each(pool, [&](int id) {
                if (pool[id].waited) remove_one(id);
            });
            return;
        }
        auto& waited = index(pool).waited;
        std::ranges::sort(waited, {}, [&](int id) { return pool[id].number; });
        std::ranges::for_each(waited, remove_one);
        waited.clear();
    }

    void add(Pool& pool, int id) {
        if (is_many_) {
            index(pool).add(pool, id);
        } else {
            few_.add(pool, id);
            ++number_;
        }
    }
    void remove(Pool& pool, int id) {
        if (is_many_) {
            index(pool).remove(pool, id);
        } else {
            few_.remove(pool, id);
            --number_;
        }
        pool.remove(id);
    }
    /// Removes the messages that have ended: no later step waits for them.
    void remove_ended(Pool& pool) {
        if (is_many_) index(pool).drop_regions();
        std::vector<int> ended;
        for_each(pool, [&](int id) {
            if (pool[id].ended) ended.push_back(id);
        });
        for (const int id : ended) remove(pool, id);
    }

    /// Removes the oldest messages as long as they ended before any step waits for them. This changes no result: if
    /// they count towards the bound, a step waits only for the oldest message, which has ended.
    void remove_ended_front(Pool& pool) {
        const auto oldest = [&] { return is_many_ ? index(pool).oldest() : few_.oldest(pool); };
        for (int id = oldest(); id >= 0 && pool[id].ended && !pool[id].waited; id = oldest()) remove(pool, id);
    }

    /// The oldest message of that kind with `peer` whose other side is not posted yet; marks it as matched. −1: no
    /// such message.
    int meet(Pool& pool, Step::Kind kind, int peer) {
        const int id = is_many_ ? index(pool).meet(pool, kind, peer) : few_.meet(pool, kind, peer);
        if (id >= 0) pool[id].met = true;
        return id;
    }

    [[nodiscard]] int size(const Pool& pool) const { return is_many_ ? index(pool).size() : static_cast<int>(number_); }
    /// One of them if they are few, else −1: to prefetch it.
    [[nodiscard]] int newest_of_few() const { return few_.newest(); }
    /// Calls `visit` with each, the oldest first.
    template <class Visit>
    void for_each(const Pool& pool, const Visit& visit) const {
        if (is_many_) {
            index(pool).for_each(visit);
        } else {
            few_.for_each(pool, visit);
        }
    }

  private:
    /// Up to this many messages are compared one by one; more are indexed.
    static constexpr int kMaxListed = 16;

    void list_or_index(Pool& pool) {
        const int number = size(pool);
        if (!is_many_ && number > kMaxListed) {
            const int added = pool.add_index();
            auto& many = pool.index(added);
            few_.for_each(pool, [&](int id) {
                many.visit_dependencies(pool, pool[id].step(), pool[id].number, [](int) {});
                many.add(pool, id);
            });
            few_ = {};
            is_many_ = true;
            number_ = static_cast<unsigned>(added);
        } else if (is_many_ && number <= kMaxListed / 2) {
            index(pool).for_each([&](int id) { few_.add(pool, id); });
            pool.remove_index(static_cast<int>(number_));
            is_many_ = false;
            number_ = static_cast<unsigned>(number);
        }
    }
    [[nodiscard]] auto& index(auto& pool) const { return pool.index(static_cast<int>(number_)); }

    ListedMessages<Note> few_;
    bool is_many_ : 1 = false;
    unsigned number_ : 31 = 0;  // how many there are; if they are many, the number of their index
};

/// A step of a rank, and the numbers of the steps that it waits for, in ascending order.
struct WaitingStep {
    Place place;
    std::int64_t round;
    const Step& step;
    std::span<const std::int64_t> waited;
};

/// Calls `visit` with the steps of one rank, in order. It does not look at other ranks' steps.
template <class Visit>
void for_each_waiting_step(const Schedule& schedule, int rank, std::int64_t max_messages_under_way,
                           const Visit& visit) {
    TrackedMessages<char> pool;
    DependencyTracker<char> tracker;
    Steps steps;
    std::vector<std::int64_t> waited;
    Place place{rank, 0};
    const auto rounds = schedule.rounds();
    for (auto round = schedule.next_active(rank, 0); round < rounds; round = schedule.next_active(rank, round + 1)) {
        steps.clear();
        schedule.round(rank, round, steps);
        for (const Step& step : steps.all()) {
            waited.clear();
            tracker.find(pool, step, place.number, max_messages_under_way);
            tracker.remove_waited(pool, [&](const auto& message) { waited.push_back(message.number); });
            constexpr bool kMet = true;  // other sides don't matter here
            if (step.is_message()) tracker.add(pool, pool.add({step, place, round, 0, kMet}));
            visit(WaitingStep{place, round, step, waited});
            ++place.number;
        }
    }
}

}  // namespace timpani
