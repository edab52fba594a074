/* communicators N: makes N communicators, calls collectives on each, frees or disconnects it, and makes another that MPI
   may give the same handle. Rank 0 prints how much memory the process holds after a tenth of them and after all, KiB. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file != NULL) fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static int collectives(MPI_Comm comm) {
    int rank, ranks, sum;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int all[64], numbers[256];
    memset(numbers, rank, sizeof numbers);
    MPI_Bcast(numbers, 256, MPI_INT, ranks - 1, comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    MPI_Barrier(comm);
    int wrong = sum != ranks * (ranks - 1) / 2 || (unsigned char)numbers[255] != ranks - 1;
    for (int i = 0; i < ranks; ++i) wrong |= all[i] != i;
    return wrong;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int total = atoi(argv[1]);
    int rank, wrong = 0;
    long early = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < total; ++i) {
        MPI_Comm made, copy;
        MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 0 ? rank % 2 : 0, i % 2 ? rank : -rank, &made);
        wrong |= collectives(made);
        MPI_Comm_dup(made, &copy);
        if (i % 5 == 0) wrong |= collectives(copy);
        i % 2 ? MPI_Comm_free(&made) : MPI_Comm_disconnect(&made);
        wrong |= collectives(copy);
        MPI_Comm_free(&copy);
        if (i + 1 == total / 10) early = resident();
    }
    if (rank == 0) printf("%ld %ld\n", early, resident());
    MPI_Finalize();
    return wrong;
}
