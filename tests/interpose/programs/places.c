/* Broadcasts from four places: twice, three times, and four times from one place on rank 0 and another on the rest. */

#include <mpi.h>

int main(int argc, char **argv) {
    volatile int two = 2, three = 3, four = 4; /* or the compiler would write each call out */
    char data[1000] = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < two; ++i) MPI_Bcast(data, 1000, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < three; ++i) MPI_Bcast(data, 1000, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < four; ++i) MPI_Bcast(data, 1000, MPI_CHAR, 0, MPI_COMM_WORLD);
    else
        for (int i = 0; i < four; ++i) MPI_Bcast(data, 500, MPI_SHORT, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
