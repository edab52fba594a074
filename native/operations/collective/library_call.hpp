#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "collectives/collective.hpp"

namespace timpani {

/// What a rank passes to the MPI library's call of a collective. Counts and displacements are in elements. If the
/// collective takes arrays, they have one entry per peer.
template <typename CountType, typename DisplacementType>
struct ArgumentsOf {
    using Count = CountType;
    using Displacement = DisplacementType;

    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    int rank = 0;
    int root = 0;
    Count count = 0;
    Count own_count = 0;  // of the rank's own block
    std::vector<Count> send_counts{};
    std::vector<Count> receive_counts{};
    std::vector<Displacement> send_displacements{};
    std::vector<Displacement> receive_displacements{};
};
using LibraryArguments = ArgumentsOf<int, int>;

/// The arguments of `rank`, with blocks one after another. All counts of `args` must fit into int.
LibraryArguments library_arguments(const Collective& collective, const CollectiveArguments& args, int rank,
                                   MPI_Comm comm, MPI_Datatype type, MPI_Op op);

/// MPI's error code.
using LibraryCall = int (*)(const LibraryArguments& arguments, void* send, void* receive);

/// The library's function for the collective, with int counts.
LibraryCall library_call(const Collective& collective);

using BoundLibraryCall = std::function<int(void* send, void* receive)>;

/// The library's function with the arguments of `rank`: with int counts if all counts and displacements fit, else with
/// large counts. Throws NotApplicable, on all ranks, if the library lacks large counts.
BoundLibraryCall bound_library_call(const Collective& collective, const CollectiveArguments& args, int rank,
                                    MPI_Comm comm, MPI_Datatype type, MPI_Op op);

}  // namespace timpani
