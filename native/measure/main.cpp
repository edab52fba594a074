// timpani-measure PLAN RECORD: measures the cells of one launch.
//
// Rank 0 reads the plan and appends JSON lines to the record: one for the launch, and one before and one after each
// cell. The line before a cell shows which cell a crash or a hang belongs to. Nothing else is written there.

#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "execute/exchange_values.hpp"
#include "execute/rank_and_size.hpp"
#include "measure/files/plan.hpp"
#include "measure/files/record.hpp"
#include "measure/launch/launch.hpp"
#include "measure/launch/share_cores.hpp"
#include "measure/observe/tool_interface.hpp"

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

/// Measures the plan at that path on all ranks of MPI_COMM_WORLD, and writes the record. Both are rank 0's files.
void measure_plan(const char* plan_path, const char* record_path) {
    const int rank = rank_in(MPI_COMM_WORLD);
    const int size = size_of(MPI_COMM_WORLD);
    const std::unique_ptr<Record> record = rank == 0 ? std::make_unique<Record>(record_path) : nullptr;
    const Plan plan = parse_plan(read_plan_everywhere(plan_path, rank));
    std::optional<ScopedCoreSharing> sharing;
    if (plan.share_cores) sharing.emplace();
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

}  // namespace

}  // namespace timpani

int main(int argc, char** argv) {
    // If the launcher is killed, its ranks must not keep spinning and disturb the next measurement.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        std::fputs("usage: timpani-measure PLAN RECORD\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    try {
        const timpani::ToolInterface tools;
        timpani::measure_plan(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "timpani-measure: rank %d: %s\n", timpani::rank_in(MPI_COMM_WORLD), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
