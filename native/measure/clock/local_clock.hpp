#pragma once

#include <time.h>

#include <cstdint>

#include "measure/files/plan.hpp"

namespace timpani {

/// Whether the MPI library is SimGrid's: time is simulated, stands still while a rank computes, and is the same on all
/// ranks.
inline constexpr bool kSimulated = TIMPANI_SIMULATED;

/// This rank's clock in nanoseconds: CLOCK_MONOTONIC, which all processes of a node share, with an artificial error for
/// tests. SimGrid's compiler replaces it by simulated time.
class LocalClock {
  public:
    LocalClock() : LocalClock(ClockSkew{}) {}
    explicit LocalClock(const ClockSkew& skew);

    [[nodiscard]] std::int64_t now() const {
        const std::int64_t elapsed = monotonic() - base_;
        return base_ + elapsed + offset_ + static_cast<std::int64_t>(static_cast<double>(elapsed) * drift_);
    }

    /// Returns the first reading that is not before `deadline`. It spins; in a simulation, a spinning rank would stop
    /// time.
    // NOLINTNEXTLINE(modernize-use-nodiscard): some callers only wait
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

/// Median time of one reading, in nanoseconds.
std::int64_t reading_cost_ns(const LocalClock& clock);

}  // namespace timpani
