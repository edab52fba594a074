// Makes the calls that its arguments name, `bcast 4096 allgather 64`, once each.

#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i + 1 < argc; i += 2) {
        const int bytes = std::atoi(argv[i + 1]);
        const auto all = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(bytes);
        std::vector<char> sent(all);
        std::vector<char> received(all);
        if (std::strcmp(argv[i], "bcast") == 0) {
            MPI_Bcast(sent.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        } else {
            MPI_Allgather(sent.data(), bytes, MPI_CHAR, received.data(), bytes, MPI_CHAR, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
}
