#pragma once

#include "schedule/step.hpp"

namespace timpani {

/// Reduces `number` values in the order of the ranks that they come from, so any operator is allowed. A rank receives
/// one value after another. It combines each value with the earlier ones while it receives the next. It alternates
/// between three buffers: the result's, which receives the last value and finally holds the result, and two in scratch
/// from element `scratch_begin` on.
struct OrderedReduction {
    std::int64_t number;
    Region result;
    std::int64_t scratch_begin;

    /// Where value `index` is received.
    [[nodiscard]] Region buffer(std::int64_t index) const {
        const std::int64_t turn = (number - 1 - index) % 3;
        if (turn == 0) return result;
        return {Buffer::scratch, scratch_begin + (turn - 1) * result.count, result.count};
    }
    /// Combines value `index` with those before it, in the buffer of that value.
    void combine(std::int64_t index, Steps& steps) const { steps.reduce(buffer(index - 1), buffer(index)); }
};

}  // namespace timpani
