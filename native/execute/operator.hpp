#pragma once

#include <mpi.h>

namespace timpani {

/// Whether the operator commutes; true for MPI_OP_NULL, since nothing is reduced.
inline bool commutes(MPI_Op op) {
    int yes = 1;
    if (op != MPI_OP_NULL) PMPI_Op_commutative(op, &yes);
    return yes != 0;
}

}  // namespace timpani
