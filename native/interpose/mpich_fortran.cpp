// MPICH's Fortran layers call MPI's C names, so that the C entry points see them; but where mpi_f08 passes no buffer it
// goes by C's PMPI names, and its calls are caught by the module's own.

#include <mpi.h>

#pragma GCC visibility push(default)
extern "C" {
void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* error);
void mpi_finalize_f08_(MPI_Fint* error);
}
#pragma GCC visibility pop

namespace {

/// `error` is optional in Fortran: null where it is left out.
void give(MPI_Fint* error, int code) {
    if (error != nullptr) *error = code;
}

}  // namespace

void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* error) { give(error, MPI_Barrier(PMPI_Comm_f2c(*comm))); }
void mpi_finalize_f08_(MPI_Fint* error) { give(error, MPI_Finalize()); }
