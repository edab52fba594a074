// timpani-bench-pass-through CALLS: calls the cheapest collective, a barrier of one rank, and prints the minimum over
// batches of the time per call, in nanoseconds. With libtimpani.so preloaded and without, it shows the cost of
// interception.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: timpani-bench-pass-through CALLS\n", stderr);
        return 2;
    }
    MPI_Init(&argc, &argv);
    constexpr int kBatch = 10'000;
    double least = std::numeric_limits<double>::max();
    for (long calls = std::stol(argv[1]); calls > 0; calls -= kBatch) {
        const double start = MPI_Wtime();
        for (int i = 0; i < kBatch; ++i) MPI_Barrier(MPI_COMM_SELF);
        least = std::min(least, (MPI_Wtime() - start) / kBatch);
    }
    std::printf("%.2f\n", least * 1e9);
    MPI_Finalize();
}
