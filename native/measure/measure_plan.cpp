#include "measure/measure_plan.hpp"

#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "execute/exchange_values.hpp"
#include "execute/rank_and_size.hpp"
#include "measure/files/plan.hpp"
#include "measure/files/record.hpp"
#include "measure/launch/launch.hpp"

namespace timpani {

namespace {

std::string read_plan_everywhere(const char* path, int rank) {
    std::string text;
    if (rank == 0) {
        std::ifstream file(path);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    return broadcast_values(std::move(text), 0, MPI_COMM_WORLD);
}

/// The clock of this rank, with the error that the plan gives it.
LocalClock local_clock(const Plan& plan, int rank) {
    const auto skew = std::ranges::find(plan.skews, rank, &ClockSkew::rank);
    return skew == plan.skews.end() ? LocalClock() : LocalClock(*skew);
}

}  // namespace

void measure_plan(const char* plan_path, const char* record_path) {
    const int rank = rank_in(MPI_COMM_WORLD);
    const int size = size_of(MPI_COMM_WORLD);
    const std::unique_ptr<Record> record = rank == 0 ? std::make_unique<Record>(record_path) : nullptr;
    const Plan plan = parse_plan(read_plan_everywhere(plan_path, rank));
    const LocalClock local = local_clock(plan, rank);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    {
        GlobalClock clock(comm, local);
        const Harness harness{comm, rank, size, clock};
        Launch launch(plan, harness, record.get());
        launch.begin();
        for (const auto& point : plan.points) {
            if (&point != &plan.points.front() && launch.too_late_to_begin()) break;
            launch.measure(point);
        }
        launch.end();
    }
    MPI_Comm_free(&comm);
}

}  // namespace timpani
