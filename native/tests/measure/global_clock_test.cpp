// Run with MPI: a common clock is found whatever the ranks' clocks show.
//
// usage: timpani-clock-test OFFSET_NS DRIFT_PPM
// Every rank's clock is wrong by rank × OFFSET_NS and drifts by rank × DRIFT_PPM. Prints the number of clocks and the
// error at the start and half a second later. The caller evaluates them.

#include "measure/clock/global_clock.hpp"

#include <mpi.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::int64_t offset = argc > 1 ? std::stoll(argv[1]) : 0;
    const double drift = argc > 2 ? std::stod(argv[2]) : 0;
    const timpani::LocalClock local(timpani::ClockSkew{rank, rank * offset, rank * drift});
    {
        timpani::GlobalClock clock(MPI_COMM_WORLD, local);
        clock.synchronize();
        const auto first = clock.error_ns();
        for (const auto begin = local.now(); local.now() < begin + 500'000'000;) {
        }
        const auto later = clock.error_ns();
        if (rank == 0) {
            std::printf("clocks %d first_ns %lld later_ns %lld\n", clock.clocks(), static_cast<long long>(first),
                        static_cast<long long>(later));
        }
    }
    MPI_Finalize();
    return 0;
}
