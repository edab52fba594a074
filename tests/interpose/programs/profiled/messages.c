/* messages: one rank sends, both exchange, in the three ways that programs use most. */

#include <mpi.h>

int main(int argc, char **argv) {
    double data[100] = {0}, room[100];
    int rank, numbers[10] = {0}, received[10];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int other = 1 - rank;
    if (rank == 0) MPI_Send(data, 100, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(room, 100, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request requests[2];
    MPI_Irecv(received, 10, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(numbers, 10, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(data, 1, MPI_DOUBLE, other, 3, room, 1, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
