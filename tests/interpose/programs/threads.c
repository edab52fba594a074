/* threads: several threads call collectives at once, each on separate communicators that come and go. */

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, CALLS = 60, LENGTH = 3000, PAIRS = 40 };

static MPI_Comm comms[THREADS];

static void *work(void *given) {
    MPI_Comm comm = *(MPI_Comm *)given;
    int rank, ranks;
    static _Thread_local int data[LENGTH];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (long i = 0; i < CALLS; ++i) {
        const int root = (int)i % ranks;
        for (int k = 0; k < LENGTH; ++k) data[k] = rank == root ? (int)i + k : -1;
        MPI_Bcast(data, LENGTH, MPI_INT, root, comm);
        for (int k = 0; k < LENGTH; ++k)
            if (data[k] != (int)i + k) return given;
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != ranks * (ranks - 1) / 2) return given;
        struct {
            double value;
            int rank; /* behind it four bytes that no message has */
        } mine[PAIRS], most[PAIRS];
        for (int k = 0; k < PAIRS; ++k) mine[k].value = (given - (void *)comms) + i + k + rank, mine[k].rank = rank;
        MPI_Allreduce(mine, most, PAIRS, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
        for (int k = 0; k < PAIRS; ++k)
            if (most[k].value != mine[k].value - rank + ranks - 1 || most[k].rank != ranks - 1) return given;
        if (i % 10 == 9) {
            MPI_Comm copy;
            MPI_Comm_dup(comm, &copy);
            MPI_Barrier(copy);
            MPI_Comm_free(&copy);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int level, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) return MPI_Finalize(), 77;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, &comms[i]);
    for (int i = 0; i < THREADS; ++i) {
        void *failed;
        pthread_join(threads[i], &failed);
        wrong |= failed != NULL;
    }
    for (int i = 0; i < THREADS; ++i) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return wrong;
}
