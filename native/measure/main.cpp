// timpani-measure PLAN RECORD: measures the cells of one launch.
//
// Rank 0 reads the plan and appends JSON lines to the record: one for the launch, and one before and one after each
// cell. The line before a cell shows which cell a crash or a hang belongs to. Nothing else is written there.

#include <mpi.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "execute/rank_and_size.hpp"
#include "measure/measure_plan.hpp"
#include "measure/observe/tool_interface.hpp"

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
