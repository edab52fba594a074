/* nodes: three ranks, of which the first two share a node, broadcast: all, those of the first node, and one of each node. */

#include <mpi.h>

/* What the preloaded library calls to find the nodes. */
int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *node) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return PMPI_Comm_split(comm, rank / 2, key, node);
}

static void broadcast_among(int member) {
    MPI_Comm comm;
    int number = 0;
    MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, 0, &comm);
    if (!member) return;
    MPI_Bcast(&number, 1, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    broadcast_among(1), broadcast_among(rank < 2), broadcast_among(rank != 1);
    return MPI_Finalize();
}
