#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/algorithm.hpp"
#include "schedule/indexed_messages.hpp"
#include "schedule/listed_messages.hpp"
#include "schedule/message_pool.hpp"

namespace timpani {

/// Most messages that a rank may have under way at once: as the algorithm says, or where it names no bound so many that
/// none waits but a pipeline of many segments.
std::int64_t most_under_way(const Algorithm& algorithm, const CollectiveArguments& args);

/// The messages of one rank that no step has waited for yet, and which of them each step, taken in order, must wait
/// for: those with which it shares data or which notifications order, and the oldest where there would be too many.
/// Local steps are over when the next begins, so nothing waits for them.
///
/// The messages lie in a pool, which may be of many ranks.
template <class Note>
class DependencyTracker {
  public:
    using Pool = MessagePool<Note>;

    /// Takes `step`, the next of the rank, with its number, and marks the messages that it waits for. How many of them
    /// have not ended.
    int find(Pool& pool, const Step& step, std::int64_t number, std::int64_t most_under_way) {
        list_or_index(pool);
        int found = 0;
        int missing = 0;
        const auto wait_for = [&](int id) {
            Message<Note>& message = pool[id];
            if (message.waited) return;
            message.waited = true;
            ++found;
            missing += message.ended ? 0 : 1;
            if (many_ != nullptr) many_->waited.push_back(id);
        };
        if (many_ != nullptr) {
            many_->visit_dependencies(pool, step, number, wait_for);
        } else {
            few_.visit_dependencies(pool, step, wait_for);
        }
        if (step.is_message() && size() - found >= most_under_way) {
            wait_for(many_ != nullptr ? many_->oldest_not_waited(pool) : few_.oldest_not_waited(pool));
        }
        return missing;
    }
    /// Removes those that are marked, the oldest first, and calls `visit` with each.
    template <class Visit>
    void remove_waited(Pool& pool, const Visit& visit) {
        const auto remove_one = [&](int id) {
            visit(pool[id]);
            remove(pool, id);
        };
        if (many_ == nullptr) {
            few_.for_each(pool, [&](int id) {
                if (pool[id].waited) remove_one(id);
            });
            return;
        }
        auto& waited = many_->waited;
        std::ranges::sort(waited, {}, [&](int id) { return pool[id].number; });
        std::ranges::for_each(waited, remove_one);
        waited.clear();
    }

    void add(Pool& pool, int id) {
        if (many_ != nullptr) {
            many_->add(pool, id);
        } else {
            few_.add(pool, id);
        }
    }
    void remove(Pool& pool, int id) {
        if (many_ != nullptr) {
            many_->remove(pool, id);
        } else {
            few_.remove(pool, id);
        }
        pool.remove(id);
    }
    /// Removes those that have ended: no step is left to wait for them.
    void remove_ended(Pool& pool) {
        if (many_ != nullptr) many_->drop_regions();
        std::vector<int> ended;
        for_each(pool, [&](int id) {
            if (pool[id].ended) ended.push_back(id);
        });
        for (const int id : ended) remove(pool, id);
    }

    /// Removes the oldest for as long as they have ended before any step waits for them. For all others nothing
    /// changes: where they count towards the bound, the oldest of all is what a step waits for, and that takes no time.
    void remove_ended_front(Pool& pool) {
        const auto oldest = [&] { return many_ != nullptr ? many_->oldest() : few_.oldest(); };
        for (int id = oldest(); id >= 0 && pool[id].ended && !pool[id].waited; id = oldest()) remove(pool, id);
    }

    /// The oldest of that kind with `peer` that has not met its other side, and now has; −1 for none.
    int meet(Pool& pool, Step::Kind kind, int peer) {
        const int id = many_ != nullptr ? many_->meet(pool, kind, peer) : few_.meet(pool, kind, peer);
        if (id >= 0) pool[id].met = true;
        return id;
    }

    [[nodiscard]] int size() const { return many_ != nullptr ? many_->size() : few_.size(); }
    /// Calls `visit` with each, the oldest first.
    template <class Visit>
    void for_each(const Pool& pool, const Visit& visit) const {
        if (many_ != nullptr) {
            many_->for_each(visit);
        } else {
            few_.for_each(pool, visit);
        }
    }

  private:
    /// So many messages are compared one by one; more are indexed.
    static constexpr int kFew = 16;

    void list_or_index(Pool& pool) {
        if (many_ == nullptr && few_.size() > kFew) {
            auto many = std::make_unique<IndexedMessages<Note>>();
            few_.for_each(pool, [&](int id) {
                many->visit_dependencies(pool, pool[id].step(), pool[id].number, [](int) {});
                many->add(pool, id);
            });
            many_ = std::move(many);
        } else if (many_ != nullptr && many_->size() <= kFew / 2) {
            few_ = {};
            many_->for_each([&](int id) { few_.add(pool, id); });
            many_.reset();
        }
    }

    ListedMessages<Note> few_;
    std::unique_ptr<IndexedMessages<Note>> many_;  // in place of few_ where there are many
};

}  // namespace timpani
