/* errors: wrong arguments reach the program's own handler, each once, and a communicator works on afterwards. Prints the
   class of each error as the call returned it and as the handler saw it. */

#include <mpi.h>
#include <stdio.h>

static int handled;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    MPI_Error_class(*code, &handled);
}

static void show(const char *what, int code) {
    int rank, class;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Error_class(code, &class);
    if (rank == 0) printf("%s %d %d\n", what, class, handled);
    handled = MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    MPI_Errhandler ours;
    int data[16] = {0}, result[16], rank, ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &ours);
    MPI_Comm_set_errhandler(comm, ours);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    show("count", MPI_Bcast(data, -1, MPI_INT, 0, comm));
    show("type", MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, comm));
    show("root", MPI_Bcast(data, 1, MPI_INT, ranks, comm));
    show("negative root", MPI_Reduce(data, result, 1, MPI_INT, MPI_SUM, -7, comm));
    show("operator", MPI_Allreduce(data, result, 1, MPI_INT, MPI_OP_NULL, comm));
    show("right", MPI_Allreduce(data, result, 1, MPI_INT, MPI_SUM, comm));
    /* A message longer than what takes it: the root sends 16 numbers, the others have room for 8. */
    const int code = MPI_Bcast(data, rank == 0 ? 16 : 8, MPI_INT, 0, comm);
    printf("rank %d: %s, %s\n", rank, code == MPI_SUCCESS ? "no error" : "an error",
           handled == MPI_SUCCESS ? "not handled" : "handled");
    handled = MPI_SUCCESS;
    int counts[16], places[16]; /* wrong at the root alone: the others must not wait for it */
    for (int i = 0; i < ranks; ++i) counts[i] = rank == 0 ? -1 : 1, places[i] = i;
    show("one count", MPI_Gatherv(data, 1, MPI_INT, result, counts, places, MPI_INT, 0, comm));
    MPI_Errhandler_free(&ours);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
