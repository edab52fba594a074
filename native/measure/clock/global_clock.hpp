#pragma once

#include <mpi.h>

#include <cmath>
#include <cstdint>

#include "measure/clock/local_clock.hpp"

namespace timpani {

/// A line that turns a local reading into the common time of all ranks: global = local + intercept + slope·(local −
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

/// The line through what two lines say at two local readings, the second later: over hours a clock drifts as no fit of
/// a tenth of a second predicts.
ClockLine line_through(const ClockLine& first, std::int64_t first_local, const ClockLine& second,
                       std::int64_t second_local);

/// The common clock of all ranks of a communicator.
///
/// Ranks of one node read one clock; that is checked, and where it is not so every rank counts as a node of its own.
/// Across nodes the leaders are synchronized by HCA3 (Hunold & Carpen-Amarie, CLUSTER 2018): in ⌈log₂ nodes⌉ rounds a
/// leader whose clock is global already serves one whose clock is not, and the latter fits offset(t) = a + b·t by
/// least squares over many exchanges.
class GlobalClock {
  public:
    /// Collective over `comm`, which stays the caller's. Finds the nodes; does not synchronize yet.
    GlobalClock(MPI_Comm comm, const LocalClock& local);
    ~GlobalClock();
    GlobalClock(const GlobalClock&) = delete;
    GlobalClock& operator=(const GlobalClock&) = delete;

    /// Collective. Nothing to do where all ranks share one clock.
    void synchronize();

    /// Collective. Synchronizes again when the last time is more than about a second ago, as drift asks for.
    void keep_synchronized();

    /// Collective. The largest distance from rank 0's clock that an exchange of messages can't exclude, nanoseconds,
    /// and at rank 0 only.
    std::int64_t error_ns();

    [[nodiscard]] bool shared() const { return clocks_ == 1; }
    [[nodiscard]] int clocks() const { return clocks_; }
    [[nodiscard]] const LocalClock& local() const { return local_; }
    [[nodiscard]] const ClockLine& line() const { return line_; }
    /// When `line` was fitted last, a local reading.
    [[nodiscard]] std::int64_t synchronized_at() const { return synchronized_at_; }
    [[nodiscard]] std::int64_t now() const { return line_.to_global(local_.now()); }

  private:
    void find_clocks();

    MPI_Comm comm_;
    const LocalClock& local_;
    MPI_Comm sharing_ = MPI_COMM_NULL;  // ranks that read one clock; its rank 0 leads
    MPI_Comm leaders_ = MPI_COMM_NULL;  // the leaders; null elsewhere
    int clocks_ = 1;
    ClockLine line_;
    std::int64_t synchronized_at_ = 0;
};

}  // namespace timpani
