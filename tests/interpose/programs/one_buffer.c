/* one_buffer: calls that send from the buffer they receive into, which MPI forbids and some libraries take, and exscan's
   arguments on rank 0 that MPI doesn't look at. Rank 0 prints each call's error class; what a library takes must not
   hang. */

#include <mpi.h>
#include <stdio.h>

#define TRY(call)                                                     \
    do {                                                              \
        int error = MPI_##call, class = 0;                            \
        MPI_Error_class(error, &class);                               \
        if (rank == 0) printf("%s %d\n", #call, class), fflush(stdout); \
    } while (0)

int main(int argc, char **argv) {
    int rank, a[64] = {0}, b[64], counts[16], places[16];
    MPI_Init(&argc, &argv);
    const MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 16; ++i) counts[i] = 1, places[i] = i;
    for (int i = 0; i < 64; ++i) a[i] = i + rank;
    TRY(Allreduce(a, a, 4, MPI_INT, MPI_SUM, comm));
    TRY(Scan(a, a, 4, MPI_INT, MPI_SUM, comm));
    TRY(Exscan(a, a, 4, MPI_INT, MPI_SUM, comm));
#ifdef OPEN_MPI /* MPICH refuses these on some ranks only, and then hangs */
    TRY(Reduce_scatter(a, a, counts, MPI_INT, MPI_SUM, comm));
    TRY(Reduce_scatter_block(a, a, 1, MPI_INT, MPI_SUM, comm));
    TRY(Allgather(a, 1, MPI_INT, a, 1, MPI_INT, comm));
    TRY(Allgatherv(a, 1, MPI_INT, a, counts, places, MPI_INT, comm));
    TRY(Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, comm));
    TRY(Alltoallv(a, counts, places, MPI_INT, a, counts, places, MPI_INT, comm));
    TRY(Exscan(rank == 0 ? MPI_IN_PLACE : a, b, 4, MPI_INT, MPI_SUM, comm));
    TRY(Exscan(a, rank == 0 ? MPI_IN_PLACE : b, 4, MPI_INT, MPI_SUM, comm));
    TRY(Exscan(a, rank == 0 ? NULL : b, 4, MPI_INT, MPI_SUM, comm));
    TRY(Exscan(a, rank == 0 ? a : b, 4, MPI_INT, MPI_SUM, comm));
    TRY(Gather(a, 1, MPI_INT, a, 1, MPI_INT, 0, comm));
    TRY(Scatter(a, 1, MPI_INT, a, 1, MPI_INT, 0, comm));
    TRY(Allgather(rank == 0 ? a : b, 1, MPI_INT, a, 1, MPI_INT, comm));
#endif
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += a[i];
    printf("rank %d holds %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
