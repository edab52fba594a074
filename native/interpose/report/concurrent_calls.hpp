#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace timpani {

/// A kept call from its last entry to its last exit, on the common clock in nanoseconds.
struct RunningCall {
    std::uint64_t number;  // of the call in its stratum
    std::int64_t begin_ns;
    std::int64_t end_ns;
};

/// The kept calls of a stratum, in order. No two run at the same time: a rank leaves a call before it enters the next.
struct RunningCalls {
    std::uint64_t id;
    std::uint64_t members;  // as CommunicatorShape has it
    double probability;     // with which each call was kept
    std::vector<RunningCall> calls{};
};

/// How long calls of two strata ran at the same time, summed over pairs of calls.
struct Concurrency {
    std::uint64_t one;
    std::uint64_t other;
    std::int64_t pairs = 0;  // of kept calls that ran at the same time
    double ns = 0;           // estimated for all calls
    double error_ns = 0;     // half-width of the 95 % interval; 0 if all calls were kept
};

/// Compares calls on different lists of ranks: those kMaxCompared strata that run longest.
class ConcurrentCalls {
  public:
    static constexpr std::size_t kMaxCompared = 64;  // 2,016 pairs of strata, each compared in microseconds

    void add(RunningCalls stratum);
    [[nodiscard]] std::size_t compared() const { return strata_.size(); }
    /// The pairs of strata of which kept calls ran at the same time.
    [[nodiscard]] std::vector<Concurrency> found() const;

  private:
    std::vector<RunningCalls> strata_;
};

}  // namespace timpani
