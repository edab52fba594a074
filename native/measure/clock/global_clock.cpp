#include "measure/clock/global_clock.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

/// Exchanges that bound one offset. In a simulation all take the same time.
constexpr int kPingPongs = kSimulated ? 1 : 10;
/// Offsets that one line is fitted through, and ns over which they are spread.
constexpr int kFitPoints = 100;
constexpr std::int64_t kFitSpan = 100'000'000;
/// A fit with at least kMinFitPoints ends after kFitLimit ns: if ranks share cores, an exchange may take milliseconds.
constexpr int kMinFitPoints = 10;
constexpr std::int64_t kFitLimit = 5 * kFitSpan;
constexpr std::int64_t kResynchronize = 1'000'000'000;  // ns

/// Bounds of (reference's global time − own local time): an exchange proves low ≤ offset ≤ high.
struct OffsetBound {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    [[nodiscard]] double middle() const { return (low + high) / 2; }
    [[nodiscard]] double half_width() const { return (high - low) / 2; }
};

/// The reference's side of bound_offset: answers each ping with its global time, until `peer` sends end_pings.
void answer_pings(MPI_Comm comm, int peer, const LocalClock& clock, const ClockLine& line) {
    for (;;) {
        std::byte end{};
        MPI_Status status;
        int bytes = 0;
        PMPI_Recv(&end, 1, MPI_BYTE, peer, GlobalClock::kTag, comm, &status);
        const std::int64_t reading = line.to_global(clock.now());
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        if (bytes > 0) return;
        PMPI_Send(&reading, 1, MPI_INT64_T, peer, GlobalClock::kTag, comm);
    }
}

void end_pings(MPI_Comm comm, int reference) {
    const std::byte end{};
    PMPI_Send(&end, 1, MPI_BYTE, reference, GlobalClock::kTag, comm);
}

OffsetBound bound_offset(MPI_Comm comm, int reference, const LocalClock& clock, const ClockLine& own) {
    OffsetBound bound;
    for (int i = 0; i < kPingPongs; ++i) {
        std::int64_t remote = 0;
        const auto sent = own.to_global(clock.now());
        PMPI_Send(nullptr, 0, MPI_BYTE, reference, GlobalClock::kTag, comm);
        PMPI_Recv(&remote, 1, MPI_INT64_T, reference, GlobalClock::kTag, comm, MPI_STATUS_IGNORE);
        const auto received = own.to_global(clock.now());
        bound.low = std::max(bound.low, static_cast<double>(remote - received));
        bound.high = std::min(bound.high, static_cast<double>(remote - sent));
    }
    return bound;
}

/// Collective. The bound of each rank's offset to rank 0, one rank after the other; empty at rank 0.
OffsetBound bound_offset_to_first(MPI_Comm comm, const LocalClock& clock, const ClockLine& line) {
    if (const int rank = rank_in(comm); rank > 0) {
        const OffsetBound bound = bound_offset(comm, 0, clock, line);
        end_pings(comm, 0);
        return bound;
    }
    for (int other = 1; other < size_of(comm); ++other) answer_pings(comm, other, clock, line);
    return {};
}

/// Least squares of offset on local time.
ClockLine fit(const std::vector<std::int64_t>& times, const std::vector<double>& offsets) {
    const auto n = static_cast<double>(times.size());
    double mean_t = 0;
    double mean_o = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        mean_t += static_cast<double>(times[i] - times[0]) / n;
        mean_o += offsets[i] / n;
    }
    double covariance = 0;
    double variance = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        const double dt = static_cast<double>(times[i] - times[0]) - mean_t;
        covariance += dt * (offsets[i] - mean_o);
        variance += dt * dt;
    }
    const double slope = variance > 0 ? covariance / variance : 0;
    return {times[0], mean_o - slope * mean_t, slope};
}

ClockLine learn_line(MPI_Comm comm, int reference, const LocalClock& clock) {
    std::vector<std::int64_t> times;
    std::vector<double> offsets;
    const std::int64_t first = clock.now();
    for (int point = 0; point < kFitPoints; ++point) {
        if (point >= kMinFitPoints && clock.now() - first > kFitLimit) break;
        clock.wait_until(first + point * (kFitSpan / kFitPoints));
        const auto before = clock.now();
        const auto bound = bound_offset(comm, reference, clock, ClockLine{});
        times.push_back(before + (clock.now() - before) / 2);
        offsets.push_back(bound.middle());
    }
    end_pings(comm, reference);
    return fit(times, offsets);
}

}  // namespace

ClockLine line_through(const ClockLine& first, std::int64_t first_local, const ClockLine& second,
                       std::int64_t second_local) {
    const auto offset = [](const ClockLine& line, std::int64_t local) {
        return line.intercept_ns + line.slope * static_cast<double>(local - line.base);
    };
    const double begin = offset(first, first_local);
    const auto span = static_cast<double>(second_local - first_local);
    return {first_local, begin, span > 0 ? (offset(second, second_local) - begin) / span : 0};
}

GlobalClock::GlobalClock(MPI_Comm comm, const LocalClock& local) : comm_(comm), local_(local) {
    if constexpr (kSimulated) {
        PMPI_Comm_dup(comm_, &sharing_);
    } else {
        PMPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &sharing_);
    }
    find_clocks();
}

GlobalClock::~GlobalClock() {
    PMPI_Comm_free(&sharing_);
    if (leaders_ != MPI_COMM_NULL) PMPI_Comm_free(&leaders_);
}

void GlobalClock::find_clocks() {
    const auto bound = bound_offset_to_first(sharing_, local_, line_);
    int disagrees = bound.low > 0 || bound.high < 0 ? 1 : 0;
    int rank = rank_in(sharing_);
    PMPI_Allreduce(MPI_IN_PLACE, &disagrees, 1, MPI_INT, MPI_MAX, comm_);
    if (disagrees != 0) {
        PMPI_Comm_free(&sharing_);
        PMPI_Comm_dup(MPI_COMM_SELF, &sharing_);
        rank = 0;
    }
    PMPI_Comm_split(comm_, rank == 0 ? 0 : MPI_UNDEFINED, rank_in(comm_), &leaders_);
    if (leaders_ != MPI_COMM_NULL) clocks_ = size_of(leaders_);
    PMPI_Bcast(&clocks_, 1, MPI_INT, 0, comm_);
}

void GlobalClock::synchronize() {
    if (shared()) return;
    line_ = ClockLine{};
    if (leaders_ != MPI_COMM_NULL) {
        const int rank = rank_in(leaders_);
        for (int reach = 1; reach < clocks_; reach *= 2) {
            if (rank < reach && rank + reach < clocks_) {
                answer_pings(leaders_, rank + reach, local_, line_);
            } else if (rank >= reach && rank < 2 * reach) {
                line_ = learn_line(leaders_, rank - reach, local_);
            }
        }
    }
    PMPI_Bcast(&line_, sizeof line_, MPI_BYTE, 0, sharing_);
    synchronized_at_ = local_.now();
}

void GlobalClock::keep_synchronized() {
    if (shared()) return;
    int due = local_.now() - synchronized_at_ > kResynchronize ? 1 : 0;
    PMPI_Bcast(&due, 1, MPI_INT, 0, comm_);
    if (due != 0) synchronize();
}

std::int64_t GlobalClock::error_ns() {
    if constexpr (kSimulated) return 0;
    const auto bound = bound_offset_to_first(comm_, local_, line_);
    double worst = 0;
    if (rank_in(comm_) > 0) worst = shared() ? bound.half_width() : std::abs(bound.middle()) + bound.half_width();
    double largest = 0;
    PMPI_Reduce(&worst, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, comm_);
    return std::llround(largest);
}

}  // namespace timpani
