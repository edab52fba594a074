/* halves: a communicator of each rank alone and one of both, alternately; `halves abort` ends by MPI_Abort at rank 1. */

#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    for (int i = 0; i < 20; ++i) {
        if (i % 2 == rank) usleep(5000);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(&i, 1, MPI_INT, 0, half);
    }
    if (argc > 1 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
    if (argc > 1) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
