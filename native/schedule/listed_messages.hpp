#pragma once

#include "schedule/message_pool.hpp"

namespace timpani {

/// A few messages that one rank has under way, the oldest first: a list through the pool, gone through for all that is
/// asked.
template <class Note>
class ListedMessages {
  public:
    using Pool = MessagePool<Note>;

    void add(Pool& pool, int id) {
        pool[id].next = -1;
        (first_ < 0 ? first_ : pool[last_].next) = id;
        last_ = id;
        ++size_;
    }
    void remove(Pool& pool, int id) {
        int before = -1;
        for (int at = first_; at != id; at = pool[at].next) before = at;
        (before < 0 ? first_ : pool[before].next) = pool[id].next;
        if (last_ == id) last_ = before;
        --size_;
    }

    /// Calls `visit` with the messages that `step` depends on.
    template <class Visit>
    void visit_dependencies(Pool& pool, const Step& step, const Visit& visit) const {
        for (int id = first_; id >= 0; id = pool[id].next) {
            const Step message = pool[id].step();
            if (share_data(message, step) || ordered_by_notification(message, step)) visit(id);
        }
    }

    /// The oldest of that kind with `peer` that has not met its other side; −1 for none.
    [[nodiscard]] int meet(const Pool& pool, Step::Kind kind, int peer) const {
        int id = first_;
        while (id >= 0 && (pool[id].met || pool[id].kind != kind || pool[id].peer != peer)) id = pool[id].next;
        return id;
    }

    [[nodiscard]] int oldest_not_waited(const Pool& pool) const {
        int id = first_;
        while (id >= 0 && pool[id].waited) id = pool[id].next;
        return id;
    }

    /// −1 for none.
    [[nodiscard]] int oldest() const { return first_; }
    [[nodiscard]] int size() const { return size_; }
    template <class Visit>
    void for_each(const Pool& pool, const Visit& visit) const {
        for (int id = first_, next = -1; id >= 0; id = next) {
            next = pool[id].next;  // `visit` may put it elsewhere
            visit(id);
        }
    }

  private:
    int first_ = -1;
    int last_ = -1;
    int size_ = 0;
};

}  // namespace timpani
