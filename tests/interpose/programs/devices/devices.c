/* devices LIBRARY: three sums, the second with a buffer that a GPU's library calls its own at the last rank alone. Without
 * LIBRARY no such library is loaded. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    static double own[1000], other[1000], sums[1000];
    int rank, ranks, wrong = 0;
    if (argc > 1) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        void (*mark)(void *) = library ? (void (*)(void *))dlsym(library, "mark_device_memory") : NULL;
        if (mark == NULL) return 3;
        mark(other);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 1000; ++i) own[i] = other[i] = 1;
    for (int call = 0; call < 3; ++call) {
        double *data = call == 1 && rank == ranks - 1 ? other : own;
        MPI_Allreduce(data, sums, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wrong |= sums[999] != ranks;
    }
    MPI_Finalize();
    return wrong;
}
