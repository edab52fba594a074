#pragma once

#include <time.h>

#include <cstdint>

#include "measure/files/plan.hpp"

namespace timpani {

/// Whether the MPI library is SimGrid's: time is simulated, stands still while a rank computes, and is the same
/// everywhere.
inline constexpr bool kSimulated = TIMPANI_SIMULATED;

/// This rank's own clock in nanoseconds: CLOCK_MONOTONIC, which all processes of a node share (SimGrid's compiler puts
/// simulated time in its place), with an artificial error where a test asks for one.
class LocalClock {
  public:
    LocalClock() : LocalClock(ClockSkew{}) {}
    explicit LocalClock(const ClockSkew& skew);

    [[nodiscard]] std::int64_t now() const {
        const std::int64_t elapsed = monotonic() - base_;
        return base_ + elapsed + offset_ + static_cast<std::int64_t>(static_cast<double>(elapsed) * drift_);
    }

    /// Returns the first reading that is not before `deadline`. Spins; a spinning rank would stop simulated time.
    // NOLINTNEXTLINE(modernize-use-nodiscard): some only wait
    std::int64_t wait_until(std::int64_t deadline) const {
        auto time = now();
        while (time < deadline) {
            if constexpr (kSimulated) sleep_for(deadline - time);
            time = now();
        }
        return time;
    }

  private:
    static void sleep_for(std::int64_t nanoseconds) {
        const timespec span{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
        nanosleep(&span, nullptr);
    }

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
