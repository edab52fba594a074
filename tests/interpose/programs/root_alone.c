/* root_alone: calls whose arguments are wrong at the receiving rank alone, each the first call on its communicator. The
   other rank only sends a short message, so MPI lets it return. Prints a line for each call and rank: what is wrong, the
   class of the returned error, and how often the communicator's handler ran. With `sized` as argument it leaves out
   calls whose size the receiving rank does not know. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RECEIVER = 0, CALLS = 9 };
static int handled;
static void count(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, ++handled; }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    alarm(60);
    int rank, a[4] = {1, 2, 3, 4}, b[8] = {0};
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(count, &handler);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int wrong = rank == RECEIVER, sized = argc > 1 && strcmp(argv[1], "sized") == 0;
    for (int call = 0; call < CALLS; ++call) {
        if (sized && (call == 3 || call == 4 || call == 6 || call == 7)) continue;
#ifdef MPICH_VERSION
        if (call == 3) continue; /* MPICH crashes itself */
#endif
        const char *what = "";
        int code = 0, class;
        MPI_Comm comm; /* never freed: a message that nobody received could reach the next one */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, handler);
        handled = 0;
#define TRY(number, name, function) if (call == number) what = name, code = function
        TRY(0, "reduce, one buffer", MPI_Reduce(a, wrong ? a : b, 4, MPI_INT, MPI_SUM, RECEIVER, comm));
        TRY(1, "reduce, operator null", MPI_Reduce(a, b, 4, MPI_INT, wrong ? MPI_OP_NULL : MPI_SUM, RECEIVER, comm));
        TRY(2, "reduce, operator", MPI_Reduce(a, b, 1, MPI_DOUBLE, wrong ? MPI_BAND : MPI_SUM, RECEIVER, comm));
        TRY(3, "reduce, count", MPI_Reduce(a, b, wrong ? -1 : 4, MPI_INT, MPI_SUM, RECEIVER, comm));
        TRY(4, "reduce, type null",
            MPI_Reduce(a, b, 4, wrong ? MPI_DATATYPE_NULL : MPI_INT, MPI_SUM, RECEIVER, comm));
        TRY(5, "gather, root", MPI_Gather(a, 4, MPI_INT, b, 4, MPI_INT, wrong ? -1 : RECEIVER, comm));
        TRY(6, "gather, count", MPI_Gather(a, 4, MPI_INT, b, wrong ? -1 : 4, MPI_INT, RECEIVER, comm));
        TRY(7, "gather, type null",
            MPI_Gather(a, 4, MPI_INT, b, 4, wrong ? MPI_DATATYPE_NULL : MPI_INT, RECEIVER, comm));
        TRY(8, "gather, send count", MPI_Gather(a, wrong ? -1 : 4, MPI_INT, b, 4, MPI_INT, RECEIVER, comm));
        MPI_Error_class(code, &class);
        printf("%s, rank %d: class %d, handler %d x\n", what, rank, class, handled);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
