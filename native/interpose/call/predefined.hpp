#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>

namespace timpani {

/// Whether MPI defines the type. `type` must be valid: MPI reports others to the handler of MPI_COMM_WORLD.
inline bool predefined_type(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/// Whether MPI defines the operator for reductions.
inline bool predefined_op(MPI_Op op) {
    const std::array all{MPI_OP_NULL, MPI_SUM, MPI_MAX,  MPI_MIN,  MPI_PROD,   MPI_LAND,  MPI_BAND,
                         MPI_LOR,     MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    return std::ranges::find(all, op) != all.end();
}

}  // namespace timpani
