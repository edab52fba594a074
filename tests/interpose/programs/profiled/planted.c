/* planted CALLS NANOSECONDS [end]: before each MPI_Allreduce rank r waits r times so long after a barrier. Each rank
 * prints, in nanoseconds: its time in the calls; how long after the first rank it entered, median; how long it was in the
 * calls before the last rank entered. All from its own readings of the clock that a node's ranks share, around the call.
 * `end` is how it ends instead of by MPI_Finalize: kill, exit or abort. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const long long left = *(const long long *)a, right = *(const long long *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv) {
    const int calls = atoi(argv[1]);
    const long long late = atoll(argv[2]);
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long long *entry = calloc(calls, sizeof *entry), *left = calloc(calls, sizeof *left);
    long long *first = calloc(calls, sizeof *first), *last = calloc(calls, sizeof *last);
    double sum[4] = {0}, total[4];
    for (int i = 0; i < calls; ++i) {
        PMPI_Barrier(MPI_COMM_WORLD);
        for (const long long until = now() + rank * late; now() < until;) continue;
        entry[i] = now();
        MPI_Allreduce(sum, total, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        left[i] = now();
    }
    if (argc > 3) {
        PMPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(argv[3], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
        if (strcmp(argv[3], "kill") == 0) raise(SIGKILL);
        exit(4);
    }
    PMPI_Allreduce(entry, first, calls, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(entry, last, calls, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    double inside = 0, waited = 0;
    for (int i = 0; i < calls; ++i) {
        inside += left[i] - entry[i];
        waited += last[i] < left[i] ? last[i] - entry[i] : left[i] - entry[i];
        first[i] = entry[i] - first[i];
    }
    qsort(first, calls, sizeof *first, ascending);
    printf("%d %.0f %lld %.0f\n", rank, inside, first[calls / 2], waited);
    MPI_Send(sum, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
