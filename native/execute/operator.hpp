#pragma once

#include <mpi.h>

namespace timpani {

/// Whether the order of operands is all one; so it is where nothing is reduced, MPI_OP_NULL.
inline bool commutes(MPI_Op op) {
    int yes = 1;
    if (op != MPI_OP_NULL) PMPI_Op_commutative(op, &yes);
    return yes != 0;
}

}  // namespace timpani
