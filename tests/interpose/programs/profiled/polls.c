/* polls CALLS: each rank asks that many times whether a null request is done. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    for (int i = 0; i < atoi(argv[1]); ++i) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return MPI_Finalize() || !done;
}
