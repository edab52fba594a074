#pragma once

#include <cstdint>

#include "schedule/arithmetic.hpp"

namespace timpani {

/// The lowest `bits` bits of a number in reverse order.
constexpr int bit_reversed(int number, int bits) {
    auto word = static_cast<std::uint64_t>(number);
    word = (word & 0x55555555) << 1 | (word >> 1 & 0x55555555);
    word = (word & 0x33333333) << 2 | (word >> 2 & 0x33333333);
    word = (word & 0x0f0f0f0f) << 4 | (word >> 4 & 0x0f0f0f0f);
    word = (word & 0x00ff00ff) << 8 | (word >> 8 & 0x00ff00ff);
    word = (word & 0x0000ffff) << 16 | (word >> 16 & 0x0000ffff);
    return static_cast<int>(word >> (32 - bits));
}

/// Parts `first` to `last`, both included.
struct PartRange {
    int first;
    int last;
};

/// The parts that a number still works on after `exchanges` exchanges of recursive halving, near ranks first.
/// 2^`levels` numbers share as many parts. In exchange l a number exchanges with the number that differs in bit l. It
/// keeps the lower half of its parts if its own bit is 0, and the upper half if it is 1. So each reduction is over
/// consecutive ranks, and each number ends with one part: that of its bits in reverse order.
constexpr PartRange kept_parts(int number, int levels, int exchanges) {
    const int first = bit_reversed(number & ((1 << exchanges) - 1), levels);
    return {first, first + (1 << (levels - exchanges)) - 1};
}

}  // namespace timpani
