/* halves_at_once CALLS NANOSECONDS together | alternately: the two halves of four ranks reduce CALLS times, each time so
 * long on the planted clock: both at the same time, or the second half after the first. Rank 0 prints, in nanoseconds, how
 * long both halves were in a call, from the last entry to the last exit of each, and how long the calls of the halves
 * took. All from readings of the clock, around the calls. */
#include "planted_clock.h"

#include <stdio.h>
#include <string.h>

static long long late, calls_made;
static const int one = 1;
static int rank, together;

/* The library's call. The last of the ranks that are in one at the same time moves the clock. */
int PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    if (in == &one) { /* no call of the preloaded library's own */
        const int group = together ? 0 : rank / 2;
        if (++shared->entered[group] == ++calls_made * (together ? 4 : 2)) {
            shared->now += late;
            ++shared->moved[group];
        }
        while (shared->moved[group] < calls_made) sched_yield();
    }
    return library_allreduce(in, out, count, type, op, comm);
}

int main(int argc, char **argv) {
    const int calls = atoi(argv[1]);
    int sum;
    long long both = 0, all = 0;
    late = atoll(argv[2]);
    together = strcmp(argv[3], "together") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half);
    for (int i = 0; i < calls; ++i) {
        long long times[4] = {0}, last[4]; /* entry and exit of either half */
        for (int turn = 0; turn < 2; ++turn) {
            PMPI_Barrier(MPI_COMM_WORLD);
            if (turn != (together ? 0 : rank / 2)) continue;
            times[rank / 2 * 2] = now();
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
            times[rank / 2 * 2 + 1] = now();
        }
        PMPI_Allreduce(times, last, 4, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
        const long long begin = last[0] > last[2] ? last[0] : last[2], end = last[1] < last[3] ? last[1] : last[3];
        if (end > begin) both += end - begin;
        all += last[1] - last[0] + last[3] - last[2];
    }
    if (rank == 0) printf("%lld %lld\n", both, all);
    MPI_Comm_free(&half);
    return MPI_Finalize();
}
