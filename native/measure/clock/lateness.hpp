#pragma once

#include <cstdint>
#include <vector>

#include "measure/files/plan.hpp"

namespace timpani {

/// How late each rank enters each repetition of a point: injected, and known on every rank without a message.
class InjectedLateness {
  public:
    /// Ranks enter together.
    InjectedLateness() = default;
    /// `delay_ns` is the lateness of the latest rank. The same `seed` gives the same random lateness on every rank.
    InjectedLateness(const ArrivalPattern& pattern, std::int64_t delay_ns, int ranks, std::uint64_t seed);

    [[nodiscard]] bool injected() const { return !mean_ns_.empty(); }
    /// Nanoseconds after the start of repetition `repetition`, counted over all repetitions of the point.
    [[nodiscard]] std::int64_t of(int rank, std::int64_t repetition) const;
    /// Each rank's, the mean over repetitions; nanoseconds.
    [[nodiscard]] const std::vector<std::int64_t>& mean_ns() const { return mean_ns_; }
    /// The largest that a rank can have, nanoseconds.
    [[nodiscard]] std::int64_t largest_ns() const;

    /// Counts further `repetitions` and returns the number of the first; the same on every rank.
    std::int64_t count(int repetitions);

  private:
    std::vector<std::int64_t> mean_ns_;
    std::int64_t random_ns_ = 0;  // over 0: uniform up to this
    std::uint64_t seed_ = 0;
    std::int64_t counted_ = 0;
};

}  // namespace timpani
