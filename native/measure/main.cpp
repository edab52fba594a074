// timpani-measure PLAN RECORD: measures the cells of one launch.
//
// Rank 0 reads the plan and appends one JSON line to the record for the launch, one before each cell (so that whoever
// watches knows which cell a death or a hang belongs to) and one after it. Nothing else is written there.

#include <mpi.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "measure/measure_plan.hpp"
#include "measure/observe/tool_interface.hpp"

int main(int argc, char** argv) {
    // When the launcher is killed its ranks must not spin on and spoil what is measured next.
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
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        std::fprintf(stderr, "timpani-measure: rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
