#pragma once

#include <mpi.h>

#include <cmath>
#include <cstdint>

#include "measure/clock/local_clock.hpp"

namespace timpani {

/// A line that converts a local reading into the common time of all ranks: global = local + intercept + slope·(local −
/// base).
struct ClockLine {
    std::int64_t base = 0;
    double intercept_ns = 0;
    double slope = 0;

    [[nodiscard]] std::int64_t to_global(std::int64_t local) const {
        return local + std::llround(intercept_ns + slope * static_cast<double>(local - base));
    }
    [[nodiscard]] std::int64_t to_local(std::int64_t global) const {
        const auto near = global - std::llround(intercept_ns);
        return global - std::llround(intercept_ns + slope * static_cast<double>(near - base));
    }
};

/// The line through the values of two lines at two local readings, the second one later. Over hours a clock drifts
/// differently from a fit over a tenth of a second.
ClockLine line_through(const ClockLine& first, std::int64_t first_local, const ClockLine& second,
                       std::int64_t second_local);

/// The common clock of all ranks of a communicator.
///
/// Ranks of one node normally read one clock. This is checked, and if it is not the case, every rank counts as a
/// separate node. Across nodes HCA3 (Hunold & Carpen-Amarie, CLUSTER 2018) synchronizes the leaders in ⌈log₂ nodes⌉
/// rounds. In each round a leader with a global clock is the reference of a leader without one, which fits offset(t) =
/// a + b·t by least squares over many exchanges.
class GlobalClock {
  public:
    static constexpr int kTag = 1;  // of all messages between clocks

    /// Collective over `comm`, which the caller keeps. Finds the nodes, but does not synchronize yet.
    GlobalClock(MPI_Comm comm, const LocalClock& local);
    ~GlobalClock();
    GlobalClock(const GlobalClock&) = delete;
    GlobalClock& operator=(const GlobalClock&) = delete;

    /// Collective. Does nothing if all ranks share one clock.
    void synchronize();

    /// Collective. Synchronizes again if the last time is more than about a second ago, because of drift.
    void keep_synchronized();

    /// Collective. The maximum distance from rank 0's clock that is consistent with an exchange of messages, in
    /// nanoseconds, at rank 0 only.
    std::int64_t error_ns();

    [[nodiscard]] bool shared() const { return clocks_ == 1; }
    [[nodiscard]] int clocks() const { return clocks_; }
    [[nodiscard]] const LocalClock& local() const { return local_; }
    [[nodiscard]] const ClockLine& line() const { return line_; }
    /// When `line` was last fitted, as a local reading.
    [[nodiscard]] std::int64_t synchronized_at() const { return synchronized_at_; }
    [[nodiscard]] std::int64_t now() const { return line_.to_global(local_.now()); }

  private:
    void find_clocks();

    MPI_Comm comm_;
    const LocalClock& local_;
    MPI_Comm sharing_ = MPI_COMM_NULL;  // ranks that read one clock; its rank 0 leads
    MPI_Comm leaders_ = MPI_COMM_NULL;  // the leaders; null at other ranks
    int clocks_ = 1;
    ClockLine line_;
    std::int64_t synchronized_at_ = 0;
};

}  // namespace timpani
