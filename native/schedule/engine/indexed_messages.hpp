#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/engine/message_pool.hpp"
#include "schedule/step.hpp"

namespace timpani {

/// Which messages of a rank last wrote, and have since read, each interval of each buffer. A step finds the messages
/// with which it shares data in logarithmic time in the number of intervals; in constant time where it continues the
/// region of the step before. Local steps end before the next step starts, so no step has to find them.
class RegionIndex {
  public:
    /// Records `step` as `number`. Adds to `found` the numbers of earlier messages that write what it reads or writes,
    /// or read what it writes, some of them more than once.
    void add(const Step& step, std::int64_t number, std::vector<std::int64_t>& found);

  private:
    struct Interval {
        std::int64_t end;
        std::int64_t writer = -1;                // the message that wrote it last; −1: none
        std::vector<std::int64_t> readers = {};  // the messages that have read it since
    };
    using At = std::map<std::int64_t, Interval>::iterator;
    struct Intervals {
        std::map<std::int64_t, Interval> by_first;  // disjoint
        /// The first one behind the region read last, and the one behind that written last, if any is.
        std::array<At, 2> next{};
    };

    static At lower_bound(Intervals& intervals, std::int64_t first, bool write);
    void touch(const Region& region, bool write, std::int64_t number, std::vector<std::int64_t>& found);

    std::array<Intervals, kBuffers> buffers_;
};

/// Items with ascending numbers, added at the back and removed in any order, mostly near the front. Each operation
/// takes at most logarithmic time on average. A removed item leaves a gap; when half are gaps, they are closed.
template <class Item>
class Numbered {
  public:
    void add(std::int64_t number, Item item) {
        entries_.push_back({number, true, std::move(item)});
        ++size_;
    }
    [[nodiscard]] Item* find(std::int64_t number) {
        Entry* const entry = entry_of(number);
        return entry == nullptr ? nullptr : &entry->item;
    }
    /// Removes the item and returns it; nothing if no item has that number.
    std::optional<Item> take(std::int64_t number) {
        Entry* const entry = entry_of(number);
        if (entry == nullptr) return std::nullopt;
        std::optional<Item> taken = std::move(entry->item);
        entry->present = false;
        --size_;
        drop_gaps();
        return taken;
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    /// The item with the lowest number for which `which` holds; at least one must exist.
    template <class Which>
    [[nodiscard]] const Item* first_where(const Which& which) const {
        std::size_t i = first_;
        while (!entries_[i].present || !which(entries_[i].item)) ++i;
        return &entries_[i].item;
    }
    /// Calls `visit` with each number and item, in ascending order.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].present) visit(entries_[i].number, entries_[i].item);
        }
    }

  private:
    struct Entry {
        std::int64_t number;
        bool present;
        Item item;
    };

    [[nodiscard]] Entry* entry_of(std::int64_t number) {
        for (std::size_t i = last_found_; i < std::min(last_found_ + 2, entries_.size()); ++i) {
            if (entries_[i].number == number) return found(i);
        }
        const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
        const auto at = std::lower_bound(begin, entries_.end(), number,
                                         [](const Entry& entry, std::int64_t wanted) { return entry.number < wanted; });
        if (at == entries_.end() || at->number != number) return nullptr;
        return found(static_cast<std::size_t>(at - entries_.begin()));
    }
    [[nodiscard]] Entry* found(std::size_t i) {
        last_found_ = i;
        return entries_[i].present ? &entries_[i] : nullptr;
    }

    void drop_gaps() {
        while (first_ < entries_.size() && !entries_[first_].present) ++first_;
        if (2 * size_ >= entries_.size()) return;
        std::erase_if(entries_, [](const Entry& entry) { return !entry.present; });
        first_ = 0;
    }

    std::vector<Entry> entries_;
    std::size_t first_ = 0;       // earlier items have been removed
    std::size_t last_found_ = 0;  // mostly this one is looked for again, or the next
    std::size_t size_ = 0;
};

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
