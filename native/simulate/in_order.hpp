#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace timpani {

/// Items in ascending order, of which most arrive in a few ascending runs. An item is appended to the first run that it
/// continues, as in patience sorting, so one or two comparisons are enough. Other items go into a heap.
template <class Item>
class InOrder {
  public:
    [[nodiscard]] bool empty() const { return size_ == 0; }

    void add(const Item& item) {
        ++size_;
        for (std::size_t i = 0; i < kMaxRuns; ++i) {
            Run& run = runs_[i];
            if (run.items.empty()) used_ = std::max(used_, i + 1);
            if (run.items.empty() || !(run.items.back() > item)) {
                run.items.push_back(item);
                return;
            }
        }
        others_.push_back(item);
        std::ranges::push_heap(others_, std::greater<>());
    }
    /// Removes the lowest item; there must be one.
    Item take() {
        --size_;
        Run* first = nullptr;
        for (std::size_t i = 0; i < used_; ++i) {
            if (!runs_[i].items.empty() && (first == nullptr || first->lowest() > runs_[i].lowest())) first = &runs_[i];
        }
        if (!others_.empty() && (first == nullptr || first->lowest() > others_.front())) {
            std::ranges::pop_heap(others_, std::greater<>());
            const Item item = others_.back();
            others_.pop_back();
            return item;
        }
        const Item item = first->lowest();
        if (++first->taken == first->items.size()) first->clear();
        if (size_ == 0) used_ = 0;
        newest_ = static_cast<std::size_t>(first - runs_.data());
        return item;
    }
    /// An item that is taken about `number` items after the next; nullptr if unknown.
    [[nodiscard]] const Item* ahead(std::size_t number) const {
        const Run& run = runs_[newest_];
        return run.taken + number < run.items.size() ? &run.items[run.taken + number] : nullptr;
    }

  private:
    static constexpr std::size_t kMaxRuns = 16;

    struct Run {
        std::vector<Item> items;
        std::size_t taken = 0;
        [[nodiscard]] const Item& lowest() const { return items[taken]; }
        void clear() {
            items.clear();
            taken = 0;
        }
    };

    std::array<Run, kMaxRuns> runs_;
    std::size_t newest_ = 0;  // the run that an item was taken from last
    std::size_t used_ = 0;    // all runs from there on are empty
    std::size_t size_ = 0;
    std::vector<Item> others_;
};

}  // namespace timpani
