/* revoke, on 2 ranks: every rank revokes a communicator that calls were replaced on, and calls it again. Prints each call's error, by
   the class of its code. */

#include <mpi.h>
#include <stdio.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    MPI_Comm comm;
    int rank, value = 1, sum = 0, all[2], counts[] = {1, 1}, places[] = {0, 1}, codes[3];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    MPIX_Comm_revoke(comm);
    codes[0] = MPI_Barrier(comm);
    codes[1] = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    codes[2] = MPI_Gatherv(&value, 1, MPI_INT, all, counts, places, MPI_INT, 0, comm);
    for (int i = 0; i < 3; ++i) {
        MPI_Error_class(codes[i], &codes[i]);
        if (rank == 0) puts(codes[i] == MPIX_ERR_REVOKED ? "revoked" : "not revoked");
    }
    MPI_Comm_free(&comm);
#endif
    MPI_Finalize();
    return 0;
}
