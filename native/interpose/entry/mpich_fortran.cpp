// MPICH's Fortran layers call MPI's C functions, so the C entry points intercept them. But mpi_f08's calls without a
// buffer call C's PMPI functions, so they are intercepted under the module's names.

#include <mpi.h>

#pragma GCC visibility push(default)
extern "C" {
void mpi_init_f08_(MPI_Fint* error);
void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error);
void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* error);
void mpi_finalize_f08_(MPI_Fint* error);
void mpi_abort_f08_(const MPI_Fint* comm, const MPI_Fint* code, MPI_Fint* error);
void mpi_comm_free_f08_(MPI_Fint* comm, MPI_Fint* error);
void mpi_comm_disconnect_f08_(MPI_Fint* comm, MPI_Fint* error);
}
#pragma GCC visibility pop

namespace {

/// `error` is optional in Fortran: null if it is omitted.
void give(MPI_Fint* error, int code) {
    if (error != nullptr) *error = code;
}

void end(int (*freed)(MPI_Comm*), MPI_Fint* comm, MPI_Fint* error) {
    MPI_Comm handle = PMPI_Comm_f2c(*comm);
    const int code = freed(&handle);
    *comm = PMPI_Comm_c2f(handle);
    give(error, code);
}

}  // namespace

void mpi_init_f08_(MPI_Fint* error) { give(error, MPI_Init(nullptr, nullptr)); }
void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
    give(error, MPI_Init_thread(nullptr, nullptr, *required, provided));
}
void mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* error) { give(error, MPI_Barrier(PMPI_Comm_f2c(*comm))); }
void mpi_finalize_f08_(MPI_Fint* error) { give(error, MPI_Finalize()); }
void mpi_abort_f08_(const MPI_Fint* comm, const MPI_Fint* code, MPI_Fint* error) {
    give(error, MPI_Abort(PMPI_Comm_f2c(*comm), *code));
}
void mpi_comm_free_f08_(MPI_Fint* comm, MPI_Fint* error) { end(MPI_Comm_free, comm, error); }
void mpi_comm_disconnect_f08_(MPI_Fint* comm, MPI_Fint* error) { end(MPI_Comm_disconnect, comm, error); }
