/* partial: collectives on the world and on halves of it, in a program of which some ranks may run without the library.
   `partial spawn` starts two more processes first, and merges them in. Its receives take any tag: they must not receive
   messages of the preloaded library. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int collectives(MPI_Comm comm) {
    enum { LENGTH = 1000 };
    int rank, ranks, sum, data[LENGTH], wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < LENGTH; ++i) data[i] = rank == ranks - 1 ? i : -1;
    MPI_Bcast(data, LENGTH, MPI_INT, ranks - 1, comm);
    for (int i = 0; i < LENGTH; ++i) wrong |= data[i] != i;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(comm);
    return wrong || sum != ranks * (ranks - 1) / 2;
}

static int any_message(MPI_Comm comm) {
    int rank, ranks, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int next = (rank + 1) % ranks;
    int got = -1;
    int arrived = 0;
    MPI_Request sent, received;
    MPI_Isend(&rank, 1, MPI_INT, next, 7, comm, &sent);
    MPI_Status status;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &received);
    while (MPI_Test(&received, &arrived, &status), !arrived) usleep(1000); /* those with the library wait for others */
    wrong |= status.MPI_TAG != 7 || next != (got + 2) % ranks;
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    return wrong;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm parent, children, all = MPI_COMM_WORLD;
    int rank, wrong = any_message(MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Intercomm_merge(parent, 1, &all);
    } else if (argc > 1 && strcmp(argv[1], "spawn") == 0) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        MPI_Intercomm_merge(children, 0, &all);
        MPI_Comm_free(&children);
    }
    if (parent != MPI_COMM_NULL) MPI_Comm_free(&parent);
    for (int i = 0; i < 3; ++i) wrong |= collectives(all) | collectives(MPI_COMM_WORLD);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half);
    wrong |= collectives(half);
    MPI_Comm_free(&half);
    if (all != MPI_COMM_WORLD) MPI_Comm_free(&all);
    if (wrong) printf("rank %d: wrong\n", rank);
    MPI_Finalize();
    return wrong;
}
