/* halves_at_once CALLS NANOSECONDS together | alternately: the two halves of four ranks reduce CALLS times, each time so
 * long, since the reduction waits: both at the same time, or the second half after the first. Rank 0 prints, in
 * nanoseconds, how long both halves were in a call, from the last entry to the last exit of each, and how long the calls
 * of the halves took. All from readings of the clock that a node's ranks share, around the calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long late;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void slow_sum(void *in, void *result, int *length, MPI_Datatype *type) {
    const struct timespec time = {0, late};
    nanosleep(&time, NULL);
    for (int i = 0; i < *length; ++i) ((int *)result)[i] += ((int *)in)[i];
    (void)type;
}

int main(int argc, char **argv) {
    const int calls = atoi(argv[1]), together = strcmp(argv[3], "together") == 0;
    int rank, one = 1, sum;
    long long both = 0, all = 0;
    late = atoll(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Op op;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half);
    MPI_Op_create(slow_sum, 1, &op);
    for (int i = 0; i < calls; ++i) {
        long long times[4] = {0}, last[4]; /* entry and exit of either half */
        for (int turn = 0; turn < 2; ++turn) {
            PMPI_Barrier(MPI_COMM_WORLD);
            if (turn != (together ? 0 : rank / 2)) continue;
            times[rank / 2 * 2] = now();
            MPI_Allreduce(&one, &sum, 1, MPI_INT, op, half);
            times[rank / 2 * 2 + 1] = now();
        }
        PMPI_Allreduce(times, last, 4, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
        const long long begin = last[0] > last[2] ? last[0] : last[2], end = last[1] < last[3] ? last[1] : last[3];
        if (end > begin) both += end - begin;
        all += last[1] - last[0] + last[3] - last[2];
    }
    if (rank == 0) printf("%lld %lld\n", both, all);
    MPI_Op_free(&op);
    MPI_Comm_free(&half);
    return MPI_Finalize();
}
