#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "schedule/step.hpp"

namespace timpani {

/// Bytes in a cache line on most processors.
constexpr std::size_t kCacheLine = 64;

/// Loads a cache line early, since memory is slow.
inline void prefetch(const void* line) {
    __builtin_prefetch(line);
    // GCC takes a function that only prefetches for one without effect, and drops its calls.
    asm volatile("");
}

/// A step of a rank, by its number among all steps of the rank.
struct Place {
    int rank;
    std::int64_t number;
};

/// One side of a message, from its posting until a later step of its rank has waited for it. `Note` is the policy's
/// data; with 16 bytes for it, a message fits a cache line.
template <class Note>
struct alignas(kCacheLine) Message {
    std::int64_t first;   // of its region
    std::int64_t count;   // of its region
    std::int64_t number;  // of the step among the rank's steps
    Note note;
    int rank;
    int peer;
    int next;             // in the rank's list, the list of free messages, or a queue; −1: last in the queue
    int other;            // the other side, if it is posted and in the same pool; else −1
    std::uint32_t round;  // modulo 2³²
    Buffer buffer;
    Step::Kind kind;
    bool met : 1;     // the other side has been posted
    bool ended : 1;   // the data has been moved
    bool waited : 1;  // the rank's current step waits for it

    Message(const Step& step, const Place& place, std::int64_t of_round, Note kept, bool has_met)
        : first(region_of(step).first),
          count(region_of(step).count),
          number(place.number),
          note(std::move(kept)),
          rank(place.rank),
          peer(step.peer),
          next(-1),
          other(-1),
          round(static_cast<std::uint32_t>(of_round)),
          buffer(region_of(step).buffer),
          kind(step.kind),
          met(has_met),
          ended(false),
          waited(false) {}

    [[nodiscard]] Place place() const { return {rank, number}; }
    [[nodiscard]] Step step() const {
        const Region region{buffer, first, count};
        return kind == Step::Kind::send ? Step{kind, peer, region, {}} : Step{kind, peer, {}, region};
    }

  private:
    static const Region& region_of(const Step& step) { return step.kind == Step::Kind::send ? step.from : step.to; }
};

/// Whether `step` waits for `message` of its rank because one of them writes data that the other reads or writes.
inline bool share_data(const Step& message, const Step& step) {
    if (message.kind == Step::Kind::send) return step.writes(message.from);
    return step.reads(message.to) || step.writes(message.to);
}

/// Whether `step` waits for `message` because of notifications, which order other ranks' accesses to the window. A step
/// that touches the window waits for all notifications awaited before it. A notification waits for those and for the
/// messages to and from the window.
inline bool ordered_by_notification(const Step& message, const Step& step) {
    return (message.awaits() && (step.notifies() || step.touches_window())) ||
           (message.touches_window() && step.notifies());
}

/// Messages by numbers that are reused. They stay at their addresses, in blocks; each block has room for as many
/// messages as all earlier blocks together.
template <class Note>
class MessagePool {
  public:
    MessagePool() = default;
    MessagePool(const MessagePool&) = delete;
    MessagePool& operator=(const MessagePool&) = delete;
    ~MessagePool() {
        for (int id = 0; id < used_; ++id) std::destroy_at(at(id));
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            std::allocator<Message<Note>>().deallocate(blocks_[i], room(i));
    }

    Message<Note>& operator[](int id) { return *at(id); }
    const Message<Note>& operator[](int id) const { return *at(id); }

    void fetch(int id) const { prefetch(at(id)); }

    int add(Message<Note>&& message) {
        if (free_ < 0) {
            const auto [block, place] = place_of(used_);
            if (block == blocks_.size()) blocks_.push_back(std::allocator<Message<Note>>().allocate(room(block)));
            std::construct_at(blocks_[block] + place, std::move(message));
            return used_++;
        }
        const int id = free_;
        free_ = (*this)[id].next;
        (*this)[id] = std::move(message);
        return id;
    }
    void remove(int id) {
        (*this)[id].next = free_;
        free_ = id;
    }

  private:
    struct InBlock {
        std::size_t block;
        std::size_t place;
    };
    static constexpr int kFirstLog = 4;  // logarithm of the first block's room

    static constexpr std::size_t room(std::size_t block) {
        return std::size_t{1} << (block == 0 ? kFirstLog : kFirstLog + block - 1);
    }
    static InBlock place_of(int id) {
        const auto number = static_cast<std::size_t>(id);
        const auto block = static_cast<std::size_t>(std::bit_width(number >> kFirstLog));
        return {block, block == 0 ? number : number - room(block)};
    }
    [[nodiscard]] Message<Note>* at(int id) const {
        const auto [block, place] = place_of(id);
        return blocks_[block] + place;
    }

    std::vector<Message<Note>*> blocks_;
    int used_ = 0;  // numbers below it have been used
    int free_ = -1;
};

}  // namespace timpani
