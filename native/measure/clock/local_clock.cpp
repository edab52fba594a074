#include "measure/clock/local_clock.hpp"

#include <algorithm>
#include <array>

namespace timpani {

LocalClock::LocalClock(const ClockSkew& skew)
    : base_(monotonic()), offset_(skew.offset_ns), drift_(skew.drift_ppm * 1e-6) {}

std::int64_t reading_cost_ns(const LocalClock& clock) {
    std::array<std::int64_t, 1001> costs{};
    for (auto& cost : costs) {
        const auto first = clock.now();
        cost = clock.now() - first;
    }
    std::ranges::nth_element(costs, costs.begin() + costs.size() / 2);
    return costs[costs.size() / 2];
}

}  // namespace timpani
