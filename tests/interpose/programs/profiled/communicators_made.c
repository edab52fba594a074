/* communicators_made: a barrier on MPI_COMM_WORLD, on MPI_COMM_SELF, on communicators of all ranks that a duplicate, a split
 * that reverses them and each topology make, and on one of the even or the odd ranks. At most 8 ranks. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int periodic = 1, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    int ends[8], neighbors[8];
    for (int i = 0; i < ranks; ++i) ends[i] = i + 1, neighbors[i] = (i + 1) % ranks;
    MPI_Comm made[6];
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &made[2]);
    MPI_Graph_create(MPI_COMM_WORLD, ranks, ends, neighbors, 0, &made[3]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &made[4]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &made[5]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_SELF);
    for (int i = 0; i < 6; ++i) {
        MPI_Barrier(made[i]);
        MPI_Comm_free(&made[i]);
    }
    return MPI_Finalize();
}
