#include "interpose/report/common_time.hpp"

#include <cmath>

namespace timpani {

CommonTime agree_on_time(MPI_Comm comm, GlobalClock& clock) {
    CommonTime time{.line = clock.line(), .clocks = clock.clocks()};
    double wrongly_predicted = 0;
    if (!clock.shared()) {
        const ClockLine first = clock.line();
        const std::int64_t first_at = clock.synchronized_at();
        clock.synchronize();
        const std::int64_t now = clock.synchronized_at();
        time.line = line_through(first, first_at, clock.line(), now);
        wrongly_predicted = std::abs(static_cast<double>(first.to_global(now) - clock.line().to_global(now)));
    }
    double largest = 0;
    PMPI_Reduce(&wrongly_predicted, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    time.error_ns = clock.error_ns() + std::llround(largest / 4);
    return time;
}

}  // namespace timpani
