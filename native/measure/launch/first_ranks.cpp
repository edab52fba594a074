#include "measure/launch/first_ranks.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include "measure/clock/asleep.hpp"
#include "measure/launch/launch.hpp"

namespace timpani {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks(2);  // of a rank that sleeps; sections take seconds

}  // namespace

void measure_on_first_ranks(const Plan& plan, const Section& section, const Harness& all, const Record* record) {
    if (section.ranks > all.size) {
        throw std::runtime_error("the plan has cells on " + std::to_string(section.ranks) + " ranks of " +
                                 std::to_string(all.size));
    }
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(all.comm, all.rank < section.ranks ? 0 : MPI_UNDEFINED, all.rank, &comm);
    if (comm == MPI_COMM_NULL) {
        sleep_until_woken(all.comm, kBetweenLooks);
        return;
    }
    {
        GlobalClock clock(comm, all.clock.local());
        const Harness harness{comm, all.rank, section.ranks, clock};
        Launch launch(plan, harness, record);
        for (const auto& point : section.points) launch.measure(point);
    }
    MPI_Comm_free(&comm);
    for (int rank = section.ranks; all.rank == 0 && rank < all.size; ++rank) wake(all.comm, rank);
}

}  // namespace timpani
