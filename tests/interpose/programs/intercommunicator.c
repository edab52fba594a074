/* intercommunicator: collectives between two groups, on the world's self and on one rank, which pass through. */

#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, wrong = 0, number, sum = 0;
    MPI_Comm half, between, alone;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int side = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 1, &between);
    number = rank == 0 ? 42 : -1;
    MPI_Bcast(&number, 1, MPI_INT, side == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
    wrong |= side == 1 && number != 42;
    number = 1;
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, between);
    int others;
    MPI_Comm_remote_size(between, &others);
    wrong |= sum != others;
    MPI_Barrier(between);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    wrong |= sum != 1;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    MPI_Barrier(alone);
    MPI_Comm_free(&alone);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return wrong;
}
