#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace timpani {

/// Links of an item in a pairing heap; −1 for none.
struct PairingLinks {
    int child = -1;
    int sibling = -1;
};

/// Heaps of numbered items, with each item in at most one heap: pairing heaps (Fredman, Sedgewick, Sleator, Tarjan,
/// Algorithmica 1986). They are linked through the items, so a heap is stored as the number of its first item. Adding
/// takes constant time, removing the first amortized logarithmic time.
///
/// links(item)     its PairingLinks, default-initialized while it is in no heap
/// precedes(a, b)  whether a comes before b
template <class Links, class Precedes>
class PairingHeaps {
  public:
    PairingHeaps(const Links& links, const Precedes& precedes) : links_(links), precedes_(precedes) {}

    /// Merges two heaps, given by their first items; returns the first of the result.
    int merged(int a, int b) const {
        if (precedes_(b, a)) std::swap(a, b);
        links_(b).sibling = std::exchange(links_(a).child, b);
        return a;
    }
    /// Removes `first`, which is then in no heap; returns the new first, −1 for none.
    int without(int first) const {
        int pairs = -1;  // the last in front
        for (int next = std::exchange(links_(first).child, -1); next >= 0;) {
            const int one = next;
            const int other = std::exchange(links_(one).sibling, -1);
            next = other < 0 ? -1 : std::exchange(links_(other).sibling, -1);
            const int pair = other < 0 ? one : merged(one, other);
            links_(pair).sibling = std::exchange(pairs, pair);
        }
        int all = -1;
        while (pairs >= 0) {
            const int pair = std::exchange(pairs, std::exchange(links_(pairs).sibling, -1));
            all = all < 0 ? pair : merged(all, pair);
        }
        return all;
    }

  private:
    Links links_;
    Precedes precedes_;
};

/// Items by time; none may be added before the last result of earliest(): a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan,
/// JACM 1990). Items of equal time come in the order of addition. Items are kept by the highest bit in which their time
/// differs from the earliest, so each moves a few times and is never compared.
template <class Item>
class RadixHeap {
  public:
    [[nodiscard]] bool empty() const { return size_ == 0; }

    /// `time` is not negative.
    void add(double time, const Item& item) {
        const Entry entry{std::bit_cast<std::uint64_t>(time), item};
        buckets_[bucket_of(entry)].push_back(entry);
        ++size_;
    }
    /// The earliest time of all items; there must be one.
    double earliest() {
        if (buckets_[0].empty()) {
            std::size_t first = 1;
            while (buckets_[first].empty()) ++first;
            std::vector<Entry> nearest;
            nearest.swap(buckets_[first]);
            const auto [low, high] = std::ranges::minmax_element(nearest, {}, &Entry::bits);
            last_ = low->bits;
            if (last_ == high->bits) {
                buckets_[0] = std::move(nearest);
            } else {
                for (const Entry& entry : nearest) buckets_[bucket_of(entry)].push_back(entry);
            }
        }
        return std::bit_cast<double>(last_);
    }
    /// Whether any item is left at the time that earliest() returned last.
    [[nodiscard]] bool any_left() const { return !buckets_[0].empty(); }
    /// The item of that time that is taken `number` items after the next; nullptr for none.
    [[nodiscard]] const Item* ahead(std::size_t number) const {
        return taken_ + number < buckets_[0].size() ? &buckets_[0][taken_ + number].item : nullptr;
    }
    /// Takes the item of that time that was added first.
    Item take() {
        const Item item = buckets_[0][taken_].item;
        if (++taken_ == buckets_[0].size()) {
            buckets_[0].clear();
            taken_ = 0;
        }
        --size_;
        return item;
    }

  private:
    struct Entry {
        std::uint64_t bits;  // of the time: for non-negative numbers, their order is the numbers' order
        Item item;
    };
    [[nodiscard]] std::size_t bucket_of(const Entry& entry) const {
        return static_cast<std::size_t>(std::bit_width(entry.bits ^ last_));
    }

    std::array<std::vector<Entry>, 65> buckets_;
    std::size_t taken_ = 0;  // number of items taken from the first bucket
    std::uint64_t last_ = 0;
    std::size_t size_ = 0;
};

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
