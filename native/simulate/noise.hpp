#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/philox.hpp"

namespace timpani {

/// By what each message takes more or less than others like it, each by itself.
///
/// factors  of its time, quantiles in ascending order at equal steps from the least to the largest; none is no noise
/// draw     which of the calls that differ by noise alone
struct Noise {
    std::vector<double> factors{};
    std::uint32_t draw = 0;

    /// Of what a sender sends to a receiver in a round. It depends on nothing else, so that it is the same in whatever
    /// order messages come up; several of one round between the same two have the same.
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
