#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace timpani {

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

}  // namespace timpani
