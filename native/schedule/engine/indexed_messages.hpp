#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schedule/engine/message_pool.hpp"
#include "schedule/engine/numbered.hpp"
#include "schedule/engine/region_index.hpp"

namespace timpani {

/// Many messages that one rank has under way, indexed by number, by region and by peer.
template <class Note>
class IndexedMessages {
  public:
    using Pool = MessagePool<Note>;

    std::vector<int> waited;  // those that the rank's current step waits for

    /// Adds a message. The index of regions already contains its step.
    void add(Pool& pool, int id) {
        Message<Note>& message = pool[id];
        by_number_.add(message.number, id);
        count(message.step(), 1);
        message.next = -1;
        if (message.met) return;
        const auto [at, is_first] = unmet_.try_emplace(key(message.kind, message.peer), Queue{id, id});
        if (is_first) return;
        pool[at->second.last].next = id;
        at->second.last = id;
    }
    void remove(Pool& pool, int id) {
        by_number_.take(pool[id].number);
        count(pool[id].step(), -1);
    }

    /// Adds `step` to the index of regions. Calls `visit` with the messages that share data with it, with some more
    /// than once, and with those that notifications order before it.
    template <class Visit>
    void visit_dependencies(Pool& pool, const Step& step, std::int64_t number, const Visit& visit) {
        found_.clear();
        by_region_.add(step, number, found_);
        for (const auto other : found_) {
            if (const int* id = by_number_.find(other)) visit(*id);
        }
        if ((awaited_ > 0 && (step.notifies() || step.touches_window())) || (in_window_ > 0 && step.notifies())) {
            for_each([&](int id) {
                if (ordered_by_notification(pool[id].step(), step)) visit(id);
            });
        }
    }
    /// Forgets the regions: no later step shares data with them.
    void drop_regions() { by_region_ = {}; }

    /// The oldest message of that kind with `peer` whose other side is not posted yet; marks it as matched. −1: no such
    /// message.
    int meet(Pool& pool, Step::Kind kind, int peer) {
        const auto at = unmet_.find(key(kind, peer));
        if (at == unmet_.end()) return -1;
        const int id = at->second.first;
        at->second.first = pool[id].next;
        if (at->second.first < 0) unmet_.erase(at);
        return id;
    }

    [[nodiscard]] int oldest_not_waited(const Pool& pool) const {
        return *by_number_.first_where([&](int id) { return !pool[id].waited; });
    }

    /// −1 if empty.
    [[nodiscard]] int oldest() const {
        return by_number_.empty() ? -1 : *by_number_.first_where([](int) { return true; });
    }
    [[nodiscard]] int size() const { return static_cast<int>(by_number_.size()); }
    /// Calls `visit` with each, the oldest first.
    template <class Visit>
    void for_each(const Visit& visit) const {
        by_number_.for_each([&](std::int64_t, int id) { visit(id); });
    }

  private:
    struct Queue {
        int first;
        int last;
    };
    static std::int64_t key(Step::Kind kind, int peer) {
        return std::int64_t{2} * peer + (kind == Step::Kind::send ? 0 : 1);
    }
    void count(const Step& step, int by) {
        awaited_ += step.awaits() ? by : 0;
        in_window_ += step.touches_window() ? by : 0;
    }

    RegionIndex by_region_;
    Numbered<int> by_number_;
    std::unordered_map<std::int64_t, Queue> unmet_;  // by kind and peer, the oldest first
    std::int64_t awaited_ = 0;                       // notifications among the messages
    std::int64_t in_window_ = 0;                     // messages to and from the window
    std::vector<std::int64_t> found_;
};

}  // namespace timpani
