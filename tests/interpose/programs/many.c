/* many N: holds N communicators at once and calls a collective on each; MPICH has 2048 ids in all. */

#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int total = atoi(argv[1]);
    MPI_Comm *const made = malloc(sizeof *made * (size_t)total);
    int rank, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < total; ++i) {
        int number = rank == 0 ? i : -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        MPI_Bcast(&number, 1, MPI_INT, 0, made[i]);
        wrong |= number != i;
    }
    for (int i = 0; i < total; ++i) MPI_Comm_free(&made[i]);
    free(made);
    MPI_Finalize();
    return wrong;
}
