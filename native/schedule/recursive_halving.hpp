#pragma once

#include "schedule/arithmetic.hpp"

namespace timpani {

/// The lowest `bits` bits of a number, read backwards.
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

/// Halving in order of ranks: 2^`levels` numbers hold as many parts each, and by the exchange of level l, with the
/// number that differs in bit l, keep the lower half of what they have where their own bit is 0 and the upper half
/// where it is 1. Near numbers meet first, so that each reduction is over a run of ranks; what a number keeps in the
/// end is the part of its mirror image.
constexpr PartRange kept_parts(int number, int levels, int exchanges) {
    const int first = bit_reversed(number & ((1 << exchanges) - 1), levels);
    return {first, first + (1 << (levels - exchanges)) - 1};
}

}  // namespace timpani
