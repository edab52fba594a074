#pragma once

#include <utility>

#include "schedule/engine/message_pool.hpp"

namespace timpani {

/// A few messages that one rank has under way, the oldest first. They form a ring through the pool, and this object
/// stores the last. Each query visits all of them.
template <class Note>
class ListedMessages {
  public:
    using Pool = MessagePool<Note>;

    void add(Pool& pool, int id) {
        pool[id].next = last_ < 0 ? id : std::exchange(pool[last_].next, id);
        last_ = id;
    }
    void remove(Pool& pool, int id) {
        int before = last_;
        while (pool[before].next != id) before = pool[before].next;
        pool[before].next = pool[id].next;
        if (last_ == id) last_ = before == id ? -1 : before;
    }

    /// Calls `visit` with the messages that `step` depends on.
    template <class Visit>
    void visit_dependencies(Pool& pool, const Step& step, const Visit& visit) const {
        for_each(pool, [&](int id) {
            const Step message = pool[id].step();
            if (share_data(message, step) || ordered_by_notification(message, step)) visit(id);
        });
    }

    /// The oldest message of that kind with `peer` whose other side is not posted yet; −1: no such message.
    [[nodiscard]] int meet(const Pool& pool, Step::Kind kind, int peer) const {
        return first_where(
            pool, [&](const auto& message) { return !message.met && message.kind == kind && message.peer == peer; });
    }
    [[nodiscard]] int oldest_not_waited(const Pool& pool) const {
        return first_where(pool, [](const auto& message) { return !message.waited; });
    }

    /// −1 if empty.
    [[nodiscard]] int oldest(const Pool& pool) const { return last_ < 0 ? -1 : pool[last_].next; }
    [[nodiscard]] int newest() const { return last_; }
    template <class Visit>
    void for_each(const Pool& pool, const Visit& visit) const {
        for (int id = oldest(pool), last = last_; id >= 0;) {
            const int next = id == last ? -1 : pool[id].next;  // `visit` may move it
            visit(id);
            id = next;
        }
    }

  private:
    template <class Which>
    [[nodiscard]] int first_where(const Pool& pool, const Which& which) const {
        for (int id = oldest(pool); id >= 0; id = id == last_ ? -1 : pool[id].next) {
            if (which(pool[id])) return id;
        }
        return -1;
    }

    int last_ = -1;
};

}  // namespace timpani
