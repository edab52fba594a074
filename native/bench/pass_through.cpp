// timpani-bench-pass-through CALLS: calls the cheapest collective there is, a barrier of one rank, and prints the least
// nanoseconds a call took over batches. Alone, and with libtimpani.so beneath, it shows what passing through costs.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    constexpr int kBatch = 10'000;
    double least = std::numeric_limits<double>::max();
    for (int calls = std::atoi(argv[1]); calls > 0; calls -= kBatch) {
        const double start = MPI_Wtime();
        for (int i = 0; i < kBatch; ++i) MPI_Barrier(MPI_COMM_SELF);
        least = std::min(least, (MPI_Wtime() - start) / kBatch);
    }
    std::printf("%.2f\n", least * 1e9);
    MPI_Finalize();
}
