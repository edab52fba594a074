// A library whose broadcast depends on who else there is: on the first of more ranks it takes 50 ms longer, which is
// more than a call takes on busy cores.

#include <mpi.h>

#include <chrono>
#include <thread>

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int size = 0;
    int world = 0;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_size(MPI_COMM_WORLD, &world);
    if (size < world) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return PMPI_Bcast(buffer, count, type, root, comm);
}
