/* rooted CALLS NANOSECONDS: of three ranks rank 1 enters each call so long after the others, on the planted clock, and they
 * stay in it until then. Only calls of 4 bytes need rank 1: it is the broadcast's root, or the reduction has another. */
#include "planted_clock.h"

static int data[100], result[100], rank;

/* In the library's calls, when the preloaded library has read the clock, the ranks wait until all are there. */
static void meet(void) {
    const long long entered = ++shared->entered[rank];
    for (int other = 0; other < 3; ++other)
        while (shared->entered[other] < entered) sched_yield();
}
int PMPI_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    typedef int Reduce(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    if (in == data) meet();
    return ((Reduce *)dlsym(RTLD_NEXT, "PMPI_Reduce"))(in, out, count, type, op, root, comm);
}
int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    typedef int Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
    if (buffer == data) meet();
    return ((Bcast *)dlsym(RTLD_NEXT, "PMPI_Bcast"))(buffer, count, type, root, comm);
}

static void enter(long long late) {
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank != 1) return;
    for (int other = 0; other < 3; other += 2)
        while (shared->entered[other] == shared->entered[1]) sched_yield();
    shared->now += late;
}

int main(int argc, char **argv) {
    const long long late = atoll(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < atoi(argv[1]); ++i) {
        for (int root = 0; root < 2; ++root) {
            enter(late);
            MPI_Reduce(data, result, root == 0 ? 1 : 100, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
            enter(late);
            MPI_Bcast(data, root == 1 ? 1 : 100, MPI_INT, root, MPI_COMM_WORLD);
        }
    }
    return MPI_Finalize();
}
