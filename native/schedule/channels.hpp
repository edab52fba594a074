#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace timpani {

/// A step of a rank, by its number among all that the rank does.
struct Place {
    int rank;
    std::int64_t number;
};

/// Messages of which one side has been posted, by their channel: the k-th send from one rank to another meets the k-th
/// receive. At any time a channel has sends waiting or receives, never both.
class Channels {
  public:
    /// Posts one side. The other side, where it waits already; else this one waits.
    std::optional<Place> post(int sender, int receiver, const Place& place) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        std::size_t at = slot_of(sender, receiver);
        Slot& slot = slots_[at];
        const bool free = slot.first < 0;
        if (free || pool_[static_cast<std::size_t>(slot.first)].place.rank == place.rank) {
            const int added = take(place);
            if (free) {
                slot = {sender, receiver, added, added};
                ++used_;
            } else {
                pool_[static_cast<std::size_t>(slot.last)].next = added;
                slot.last = added;
            }
            return std::nullopt;
        }
        const int first = slot.first;
        Waiting& waiting = pool_[static_cast<std::size_t>(first)];
        const Place other = waiting.place;
        slot.first = waiting.next;
        waiting.next = free_;
        free_ = first;
        if (slot.first < 0) remove(at);
        return other;
    }

  private:
    struct Waiting {
        Place place;
        int next;  // on the same channel, or among the free ones; −1 for none
    };
    struct Slot {
        int sender;
        int receiver;
        int first = -1;  // in the pool; −1 where the slot is free
        int last = -1;
    };

    /// The channel's slot, or the free one where it would be: open addressing, linear probing.
    [[nodiscard]] std::size_t slot_of(int sender, int receiver) const {
        std::size_t at = home(sender, receiver);
        while (slots_[at].first >= 0 && (slots_[at].sender != sender || slots_[at].receiver != receiver)) {
            at = (at + 1) & (slots_.size() - 1);
        }
        return at;
    }
    [[nodiscard]] std::size_t home(int sender, int receiver) const {
        const auto key = static_cast<std::uint64_t>(sender) << 32 | static_cast<std::uint32_t>(receiver);
        return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15 >> 32) & (slots_.size() - 1);
    }

    /// Frees a slot, and moves up those behind it that it kept from their own place (Knuth, TAOCP 3, 6.4, algorithm R).
    void remove(std::size_t hole) {
        --used_;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = (hole + 1) & mask; slots_[at].first >= 0; at = (at + 1) & mask) {
            const std::size_t from = home(slots_[at].sender, slots_[at].receiver);
            if (((at - from) & mask) < ((at - hole) & mask)) continue;
            slots_[hole] = slots_[at];
            hole = at;
        }
        slots_[hole] = {};
    }

    void grow() {
        std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.first >= 0) slots_[slot_of(slot.sender, slot.receiver)] = slot;
        }
    }

    int take(const Place& place) {
        if (free_ < 0) {
            pool_.push_back({place, -1});
            return static_cast<int>(pool_.size()) - 1;
        }
        const int taken = free_;
        free_ = pool_[static_cast<std::size_t>(taken)].next;
        pool_[static_cast<std::size_t>(taken)] = {place, -1};
        return taken;
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    std::vector<Waiting> pool_;
    int free_ = -1;
};

}  // namespace timpani
