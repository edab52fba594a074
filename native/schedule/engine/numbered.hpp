#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace timpani {

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
        const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
        const auto at = std::lower_bound(begin, entries_.end(), number,
                                         [](const Entry& entry, std::int64_t wanted) { return entry.number < wanted; });
        return at != entries_.end() && at->number == number && at->present ? &*at : nullptr;
    }

    void drop_gaps() {
        while (first_ < entries_.size() && !entries_[first_].present) ++first_;
        if (2 * size_ >= entries_.size()) return;
        std::erase_if(entries_, [](const Entry& entry) { return !entry.present; });
        first_ = 0;
    }

    std::vector<Entry> entries_;
    std::size_t first_ = 0;  // earlier items have been removed
    std::size_t size_ = 0;
};

}  // namespace timpani
