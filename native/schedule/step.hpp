#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace timpani {

/// The memory that an algorithm works on at one rank: the caller's send and receive buffers, private scratch memory,
/// and the window, which all ranks of its node share.
enum class Buffer : std::uint8_t { send, receive, scratch, window };
constexpr std::size_t kBuffers = 4;

/// `count` elements of a buffer from element `first` on.
struct Region {
    Buffer buffer = Buffer::send;
    std::int64_t first = 0;
    std::int64_t count = 0;

    [[nodiscard]] std::int64_t end() const { return first + count; }
    [[nodiscard]] bool overlaps(const Region& other) const {
        return buffer == other.buffer && first < other.end() && other.first < end() && count > 0 && other.count > 0;
    }
    [[nodiscard]] bool contains(const Region& other) const {
        return buffer == other.buffer && first <= other.first && other.end() <= end();
    }
    friend bool operator==(const Region&, const Region&) = default;
};

/// What one rank does with one region.
///
/// send     `from` goes to `peer`
/// receive  `to` is filled by `peer`
/// copy     `to` becomes `from`
/// reduce   `to` becomes `from` ∘ `to`: `from` is the left operand, as in MPI_Reduce_local
struct Step {
    enum class Kind : std::uint8_t { send, receive, copy, reduce };

    Kind kind = Kind::copy;
    int peer = -1;
    Region from{};
    Region to{};

    [[nodiscard]] bool is_message() const { return kind == Kind::send || kind == Kind::receive; }
    /// A message without data. The receiver sees what the sender did in the window before.
    [[nodiscard]] bool notifies() const { return kind == Kind::send && from.count == 0; }
    [[nodiscard]] bool awaits() const { return kind == Kind::receive && to.count == 0; }
    [[nodiscard]] bool touches_window() const {
        const auto in_window = [](const Region& region) { return region.count > 0 && region.buffer == Buffer::window; };
        return in_window(from) || in_window(to);
    }
    [[nodiscard]] bool reads(const Region& region) const {
        return (kind != Kind::receive && from.overlaps(region)) || (kind == Kind::reduce && to.overlaps(region));
    }
    [[nodiscard]] bool writes(const Region& region) const { return kind != Kind::send && to.overlaps(region); }
    friend bool operator==(const Step&, const Step&) = default;
};

/// The steps of one rank in one round, in the order in which the algorithm lists them. Steps with empty regions are
/// omitted. The other side omits them too, since both count the same elements.
///
/// Code compiled into the algorithm writes each step in place, from registers. In a simulation of millions of ranks,
/// copying steps would take a third of the time.
class Steps {
  public:
    [[gnu::always_inline]] void send(int peer, const Region& from) {
        if (from.count > 0) add(Step::Kind::send, peer, from, {});
    }
    [[gnu::always_inline]] void receive(int peer, const Region& to) {
        if (to.count > 0) add(Step::Kind::receive, peer, {}, to);
    }
    [[gnu::always_inline]] void copy(const Region& from, const Region& to) {
        if (to.count > 0) add(Step::Kind::copy, -1, from, to);
    }
    [[gnu::always_inline]] void reduce(const Region& from, const Region& to) {
        if (to.count > 0) add(Step::Kind::reduce, -1, from, to);
    }

    /// A message without data, as in barriers. Its receiver knows of all notifications that the sender awaited before.
    void notify(int peer) { add(Step::Kind::send, peer, {}, {}); }
    void await(int peer) { add(Step::Kind::receive, peer, {}, {}); }

    /// Adds the step even if its regions are empty.
    void add(const Step& step) { add(step.kind, step.peer, step.from, step.to); }

    [[nodiscard]] std::span<const Step> all() const { return {steps_.data(), used_}; }
    void clear() { used_ = 0; }

  private:
    [[gnu::always_inline]] void add(Step::Kind kind, int peer, const Region& from, const Region& to) {
        if (used_ == steps_.size()) make_room();
        Step& step = steps_[used_++];
        step.kind = kind;
        step.peer = peer;
        step.from = from;
        step.to = to;
    }
    [[gnu::noinline]] void make_room() { steps_.resize(std::max<std::size_t>(8, 2 * used_)); }

    std::vector<Step> steps_;  // only the first `used_` are valid
    std::size_t used_ = 0;
};

}  // namespace timpani
