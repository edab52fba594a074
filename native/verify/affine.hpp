#pragma once

#include <cstdint>

namespace timpani {

/// x → ax + b over GF(2⁶¹ − 1). Represents the value of one element; a = 0 marks an unwritten element.
struct Affine {
    std::uint64_t a = 0;
    std::uint64_t b = 0;

    [[nodiscard]] bool written() const { return a != 0; }
    /// The contribution of `rank` for its element `index`.
    static constexpr Affine contribution_of(int rank, std::int64_t index, bool commutative);
    friend bool operator==(const Affine&, const Affine&) = default;
};

constexpr std::uint64_t kMersenne61 = (std::uint64_t{1} << 61) - 1;

constexpr std::uint64_t multiply(std::uint64_t x, std::uint64_t y) {
    const auto product = static_cast<__uint128_t>(x) * y;
    const auto sum = static_cast<std::uint64_t>(product & kMersenne61) + static_cast<std::uint64_t>(product >> 61);
    return sum >= kMersenne61 ? sum - kMersenne61 : sum;
}

constexpr std::uint64_t add(std::uint64_t x, std::uint64_t y) {
    const std::uint64_t sum = x + y;
    return sum >= kMersenne61 ? sum - kMersenne61 : sum;
}

/// left ∘ right: first right, then left.
constexpr Affine compose(const Affine& left, const Affine& right) {
    return {multiply(left.a, right.a), add(multiply(left.a, right.b), left.b)};
}

/// A pseudorandom number that depends on the key only (splitmix64: Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t scramble(std::uint64_t key) {
    key += 0x9e3779b97f4a7c15;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    return key ^ (key >> 31);
}

constexpr Affine Affine::contribution_of(int rank, std::int64_t index, bool commutative) {
    const auto key = (static_cast<std::uint64_t>(rank) << 40) ^ static_cast<std::uint64_t>(index);
    const std::uint64_t b = scramble(2 * key) % kMersenne61;
    return {commutative ? 1 : 1 + scramble(2 * key + 1) % (kMersenne61 - 1), b};
}

}  // namespace timpani
