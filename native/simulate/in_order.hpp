#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace timpani {

/// Items in ascending order, of which many come before the first is taken and a few afterwards: those are sorted at
/// once, and these are in a heap.
template <class Item>
class InOrder {
  public:
    [[nodiscard]] bool empty() const { return sorted_.empty() && added_.empty(); }

    void add(const Item& item) {
        added_.push_back(item);
        if (!sorted_.empty()) std::ranges::push_heap(added_, std::greater<>());
    }
    /// Takes the lowest; there must be one.
    Item take() {
        if (sorted_.empty()) {
            sorted_.swap(added_);
            std::ranges::sort(sorted_, std::greater<>());
        }
        if (added_.empty() || !(sorted_.back() > added_.front())) return taken_from(sorted_);
        std::ranges::pop_heap(added_, std::greater<>());
        return taken_from(added_);
    }

  private:
    static Item taken_from(std::vector<Item>& items) {
        Item item = std::move(items.back());
        items.pop_back();
        return item;
    }

    std::vector<Item> sorted_;  // descending
    std::vector<Item> added_;   // a heap, lowest first, while any are sorted
};

}  // namespace timpani
