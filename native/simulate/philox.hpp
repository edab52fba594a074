#pragma once

#include <array>
#include <cstdint>

namespace timpani {

/// Four pseudorandom words that depend on `counter` and `key` only: Philox4x32-10 (Salmon, Moraes, Dror and Shaw,
/// Parallel random numbers: as easy as 1, 2, 3, SC'11). It has no state, so the order of draws doesn't matter.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    constexpr int kRounds = 10;
    for (int i = 0; i < kRounds; ++i) {
        const std::uint64_t even = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t odd = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(odd >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(odd),
                   static_cast<std::uint32_t>(even >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(even)};
        key[0] += 0x9E3779B9;  // the golden ratio
        key[1] += 0xBB67AE85;  // √3 − 1
    }
    return counter;
}

}  // namespace timpani
