/* forms: collectives in the forms that are counted and never replaced, and, where MPI 4 is there, with large counts. */

#include <mpi.h>

int main(int argc, char **argv) {
    enum { LENGTH = 100 };
    int rank, ranks, wrong = 0, sum = 0, data[LENGTH], all[16], counts[16], places[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Request request;
    MPI_Datatype types[16];
    for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = i * (int)sizeof(int), types[i] = MPI_INT;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= sum != ranks * (ranks - 1) / 2;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; ++i) data[i] = rank;
    MPI_Alltoallw(data, counts, places, types, all, counts, places, types, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) wrong |= all[i] != i;
    MPI_Comm ring;
    const int dimension = ranks, periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dimension, &periodic, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, ring);
    wrong |= all[0] != (rank + ranks - 1) % ranks;
    MPI_Comm_free(&ring);
#if MPI_VERSION >= 4
    for (int i = 0; i < LENGTH; ++i) data[i] = rank == 0 ? i : -1;
    MPI_Bcast_c(data, LENGTH, MPI_INT, 0, MPI_COMM_WORLD);
    wrong |= data[LENGTH - 1] != LENGTH - 1;
    MPI_Count large_counts[16];
    MPI_Aint large_places[16];
    for (int i = 0; i < ranks; ++i) large_counts[i] = 1, large_places[i] = ranks - 1 - i;
    MPI_Allgatherv_c(&rank, 1, MPI_INT, all, large_counts, large_places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) wrong |= all[i] != ranks - 1 - i;
    MPI_Gatherv_c(&rank, 1, MPI_INT, all, large_counts, large_places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast_init(data, LENGTH, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Request_free(&request);
#endif
    MPI_Finalize();
    return wrong;
}
