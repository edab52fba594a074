#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/philox.hpp"

namespace timpani {

/// Random factors of message times, independent for each message.
///
/// factors  quantiles in ascending order at equal steps from the smallest to the largest; none: no noise
/// draw     number of the simulated call among those that differ by noise only
struct Noise {
    std::vector<double> factors{};
    std::uint32_t draw = 0;

    /// The factor of a message from `sender` to `receiver` in `round`. It depends on nothing else, so that it is
    /// independent of the order of messages; several messages of one round between two ranks have the same factor.
    [[nodiscard]] double of(int sender, int receiver, std::uint32_t round) const {
        if (factors.empty()) return 1;
        const auto word =
            philox({static_cast<std::uint32_t>(sender), static_cast<std::uint32_t>(receiver), round, 0}, {draw, 0})[0];
        const double at = static_cast<double>(word) * 0x1p-32 * static_cast<double>(factors.size() - 1);
        const auto below = static_cast<std::size_t>(at);
        const double above = factors[std::min(below + 1, factors.size() - 1)];
        return factors[below] + (at - static_cast<double>(below)) * (above - factors[below]);
    }
};

}  // namespace timpani
