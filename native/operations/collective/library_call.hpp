#pragma once

#include <mpi.h>

#include <string_view>
#include <vector>

#include "collectives/collective.hpp"

namespace timpani {

/// What a rank tells the MPI library of a collective. Counts and displacements are in elements, one a peer; each
/// collective reads those that it takes.
struct LibraryArguments {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    int rank = 0;
    int root = 0;
    int count = 0;
    int own_count = 0;  // of the rank's own block
    std::vector<int> send_counts{};
    std::vector<int> receive_counts{};
    std::vector<int> send_displacements{};
    std::vector<int> receive_displacements{};
};

/// The arguments of `rank`, blocks side by side. All counts of `args` must be ints.
LibraryArguments library_arguments(const Collective& collective, const CollectiveArguments& args, int rank,
                                   MPI_Comm comm, MPI_Datatype type, MPI_Op op);

/// MPI's error code.
using LibraryCall = int (*)(const LibraryArguments& arguments, void* send, void* receive);

/// The library's own function for the collective.
LibraryCall library_call(const Collective& collective);

}  // namespace timpani
