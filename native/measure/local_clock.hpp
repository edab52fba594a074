#pragma once

#include <time.h>

#include <cstdint>

#include "measure/plan.hpp"

namespace timpani {

/// This rank's own clock in nanoseconds: CLOCK_MONOTONIC, which all processes of a node share, with an artificial error
/// where a test asks for one.
class LocalClock {
  public:
    LocalClock() : LocalClock(ClockSkew{}) {}
    explicit LocalClock(const ClockSkew& skew);

    [[nodiscard]] std::int64_t now() const {
        const std::int64_t elapsed = monotonic() - base_;
        return base_ + elapsed + offset_ + static_cast<std::int64_t>(static_cast<double>(elapsed) * drift_);
    }

  private:
    static std::int64_t monotonic() {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC, &time);
        return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
    }

    std::int64_t base_;
    std::int64_t offset_;
    double drift_;
};

/// Median cost of one reading, nanoseconds.
std::int64_t reading_cost_ns(const LocalClock& clock);

}  // namespace timpani
