/* plans: broadcasts on all ranks. Between them, ranks 0 and 1 exchange blocks of changing sizes, without rank 2. Plans
   kept for the exchanges must not decide which plans are kept for the broadcasts. */

#include <mpi.h>
#include <string.h>

enum { LENGTH = 500, EXCHANGES = 20, SEGMENTS = 8 /* of 64 bytes */ };

/* On processors that order memory accesses right data do not show that windows are synchronized for each segment. */
static int synchronized;
int PMPI_Win_sync(MPI_Win window) {
    ++synchronized;
    return MPI_Win_sync(window);
}

int main(int argc, char **argv) {
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char data[LENGTH], from[3 * LENGTH], into[3 * LENGTH];
    const int places[] = {0, LENGTH, 2 * LENGTH};
    for (int round = 0; round < 3; ++round) {
        memset(data, rank == 0 ? round + 1 : 0, LENGTH);
        MPI_Bcast(data, LENGTH, MPI_CHAR, 0, MPI_COMM_WORLD);
        wrong |= data[LENGTH - 1] != round + 1 || synchronized < (round + 1) * SEGMENTS;
        for (int i = 0; i < EXCHANGES; ++i) {
            const int size = round * EXCHANGES + i + 1;
            const int counts[] = {rank == 1 ? size : 0, rank == 0 ? size : 0, 0};
            memset(from, size, sizeof from);
            memset(into, 0, sizeof into);
            MPI_Alltoallv(from, counts, places, MPI_CHAR, into, counts, places, MPI_CHAR, MPI_COMM_WORLD);
            wrong |= rank < 2 && into[places[1 - rank] + size - 1] != size;
        }
    }
    MPI_Finalize();
    return wrong;
}
