#pragma once

#include "schedule/step.hpp"

namespace timpani {

/// Values that come to a rank one after another, those of lower ranks first. Each is put behind the ones before it
/// while the next is on its way, for which three places take turns. The last one, and so all together, ends in
/// `result`; the other two places lie in scratch from element `spare` on.
struct Arrivals {
    std::int64_t number;
    Region result;
    std::int64_t spare;

    [[nodiscard]] Region place(std::int64_t index) const {
        const std::int64_t turn = (number - 1 - index) % 3;
        if (turn == 0) return result;
        return {Buffer::scratch, spare + (turn - 1) * result.count, result.count};
    }
    /// Puts value `index` behind those before it.
    void join(std::int64_t index, Steps& steps) const { steps.reduce(place(index - 1), place(index)); }
};

}  // namespace timpani
