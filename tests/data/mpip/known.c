/* A program whose calls are known, for mpiP. It reduces 50 times 8,000 B, starts 3 broadcasts of 100 B, and sends 20
   messages of 0 to 19 B from rank 0 to rank 1. Rank 3 enters a barrier 0.3 s late. */
#include <mpi.h>
#include <unistd.h>

static void reduce_all(void) {
    static double in[1000], out[1000];
    for (int i = 0; i < 50; i++) MPI_Allreduce(in, out, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    reduce_all();
    char data[100] = "";
    for (int i = 0; i < 3; i++) {
        MPI_Request request;
        MPI_Ibcast(data, 100, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 20; i++) {
        if (rank == 0) MPI_Send(data, i, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(data, 100, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 3) usleep(300000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
