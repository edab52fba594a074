/* planted CALLS NANOSECONDS [end]: rank r enters each MPI_Allreduce so long after rank r-1, on the planted clock. Each
 * rank prints, in nanoseconds: its time in the calls; how long after the first rank it entered, median; how long it was in
 * the calls before the last rank entered. All from its own readings of the clock, around the call.
 * `end` is how it ends instead of by MPI_Finalize: kill, exit or abort. */
#include "planted_clock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static double sum[4], total[4];
static int rank;

static int ascending(const void *a, const void *b) {
    const long long left = *(const long long *)a, right = *(const long long *)b;
    return (left > right) - (left < right);
}

/* The library's call, when the preloaded one has read the clock. */
int PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    if (in == sum) ++shared->entered[rank]; /* no call of the preloaded library's own */
    return library_allreduce(in, out, count, type, op, comm);
}

int main(int argc, char **argv) {
    const int calls = atoi(argv[1]);
    const long long late = atoll(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long long *entry = calloc(calls, sizeof *entry), *left = calloc(calls, sizeof *left);
    long long *first = calloc(calls, sizeof *first), *last = calloc(calls, sizeof *last);
    for (int i = 0; i < calls; ++i) {
        PMPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0) {
            while (shared->entered[rank - 1] == shared->entered[rank]) sched_yield();
            shared->now += late;
        }
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
