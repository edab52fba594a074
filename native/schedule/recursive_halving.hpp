#pragma once

#include "schedule/arithmetic.hpp"

namespace timpani {

/// The lowest `bits` bits of a number in reverse order.
constexpr int bit_reversed(int number, int bits) {
    int result = 0;
    for (int bit = 0; bit < bits; ++bit) result |= (number >> bit & 1) << (bits - 1 - bit);
    return result;
}

/// Parts `first` to `last`, both included.
struct PartRange {
    int first;
    int last;
};

/// The parts that a number still works on after `exchanges` exchanges of recursive halving, near ranks first:
/// 2^`levels` numbers share as many parts, and by exchange l, with the number that differs in bit l, keep the lower
/// half of what they have where their own bit is 0 and the upper half where it is 1. So each reduction is over
/// consecutive ranks, and the one part that a number keeps in the end is that of its bit reversal.
constexpr PartRange kept_parts(int number, int levels, int exchanges) {
    const int first = bit_reversed(number & ((1 << exchanges) - 1), levels);
    return {first, first + (1 << (levels - exchanges)) - 1};
}

}  // namespace timpani
