// The names that Fortran programs call on Open MPI. Its Fortran layer calls the PMPI functions, so the C entry points
// never see these calls. mpif.h and the module mpi call one of four spellings, depending on the compiler; mpi_f08 calls
// `ompi_*_f`. MPICH's Fortran layer calls the C functions: this file must not be in its library.

#include <mpi.h>

#include <algorithm>
#include <array>

namespace {

using Integer = const MPI_Fint*;
using Integers = const MPI_Fint*;  // as wide as C's: CMake checks it

}  // namespace

extern "C" {

// Fortran's MPI_IN_PLACE and MPI_BOTTOM are identified by their addresses, in the spelling of the compiler that Open
// MPI was built with. The other spellings don't exist.
extern int mpi_fortran_in_place __attribute__((weak));
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_in_place_f2c __asm__("mpi_fortran_in_place__") __attribute__((weak));
extern int MPI_FORTRAN_IN_PLACE __attribute__((weak));
extern int mpi_fortran_bottom __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_bottom_f2c __asm__("mpi_fortran_bottom__") __attribute__((weak));
extern int MPI_FORTRAN_BOTTOM __attribute__((weak));

}  // extern "C"

namespace {

void* address(void* given) {
    const std::array in_place{&mpi_fortran_in_place, &mpi_fortran_in_place_, &mpi_fortran_in_place_f2c,
                              &MPI_FORTRAN_IN_PLACE};
    const std::array bottom{&mpi_fortran_bottom, &mpi_fortran_bottom_, &mpi_fortran_bottom_f2c, &MPI_FORTRAN_BOTTOM};
    if (given == nullptr) return given;
    if (std::ranges::find(in_place, given) != in_place.end()) return MPI_IN_PLACE;
    return std::ranges::find(bottom, given) != bottom.end() ? MPI_BOTTOM : given;
}

MPI_Comm comm_of(Integer handle) { return PMPI_Comm_f2c(*handle); }
MPI_Datatype type_of(Integer handle) { return PMPI_Type_f2c(*handle); }
MPI_Op op_of(Integer handle) { return PMPI_Op_f2c(*handle); }

void give(MPI_Fint* error, int code) {
    if (error != nullptr) *error = code;
}

void end(int (*freed)(MPI_Comm*), MPI_Fint* comm, MPI_Fint* error) {
    MPI_Comm handle = comm_of(comm);
    const int code = freed(&handle);
    *comm = PMPI_Comm_c2f(handle);
    give(error, code);
}

}  // namespace

// One function under all its names.
#define TIMPANI_FORTRAN(lower, upper, ...)                                         \
    void mpi_##lower(__VA_ARGS__) __attribute__((alias("ompi_" #lower "_f")));     \
    void mpi_##lower##_(__VA_ARGS__) __attribute__((alias("ompi_" #lower "_f")));  \
    void mpi_##lower##__(__VA_ARGS__) __attribute__((alias("ompi_" #lower "_f"))); \
    void MPI_##upper(__VA_ARGS__) __attribute__((alias("ompi_" #lower "_f")));     \
    void ompi_##lower##_f(__VA_ARGS__)

#pragma GCC visibility push(default)
extern "C" {

TIMPANI_FORTRAN(init, INIT, MPI_Fint* error) { give(error, MPI_Init(nullptr, nullptr)); }

TIMPANI_FORTRAN(init_thread, INIT_THREAD, Integer required, MPI_Fint* provided, MPI_Fint* error) {
    int level = 0;
    give(error, MPI_Init_thread(nullptr, nullptr, *required, &level));
    *provided = level;
}

TIMPANI_FORTRAN(finalize, FINALIZE, MPI_Fint* error) { give(error, MPI_Finalize()); }

TIMPANI_FORTRAN(abort, ABORT, Integer comm, Integer code, MPI_Fint* error) {
    give(error, MPI_Abort(comm_of(comm), *code));
}

TIMPANI_FORTRAN(comm_free, COMM_FREE, MPI_Fint* comm, MPI_Fint* error) { end(MPI_Comm_free, comm, error); }

TIMPANI_FORTRAN(comm_disconnect, COMM_DISCONNECT, MPI_Fint* comm, MPI_Fint* error) {
    end(MPI_Comm_disconnect, comm, error);
}

TIMPANI_FORTRAN(barrier, BARRIER, Integer comm, MPI_Fint* error) { give(error, MPI_Barrier(comm_of(comm))); }

TIMPANI_FORTRAN(bcast, BCAST, void* buffer, Integer count, Integer type, Integer root, Integer comm, MPI_Fint* error) {
    give(error, MPI_Bcast(address(buffer), *count, type_of(type), *root, comm_of(comm)));
}

TIMPANI_FORTRAN(gather, GATHER, void* send, Integer send_count, Integer send_type, void* receive, Integer receive_count,
                Integer receive_type, Integer root, Integer comm, MPI_Fint* error) {
    give(error, MPI_Gather(address(send), *send_count, type_of(send_type), address(receive), *receive_count,
                           type_of(receive_type), *root, comm_of(comm)));
}

TIMPANI_FORTRAN(gatherv, GATHERV, void* send, Integer send_count, Integer send_type, void* receive,
                Integers receive_counts, Integers receive_displacements, Integer receive_type, Integer root,
                Integer comm, MPI_Fint* error) {
    give(error, MPI_Gatherv(address(send), *send_count, type_of(send_type), address(receive), receive_counts,
                            receive_displacements, type_of(receive_type), *root, comm_of(comm)));
}

TIMPANI_FORTRAN(scatter, SCATTER, void* send, Integer send_count, Integer send_type, void* receive,
                Integer receive_count, Integer receive_type, Integer root, Integer comm, MPI_Fint* error) {
    give(error, MPI_Scatter(address(send), *send_count, type_of(send_type), address(receive), *receive_count,
                            type_of(receive_type), *root, comm_of(comm)));
}

TIMPANI_FORTRAN(scatterv, SCATTERV, void* send, Integers send_counts, Integers send_displacements, Integer send_type,
                void* receive, Integer receive_count, Integer receive_type, Integer root, Integer comm,
                MPI_Fint* error) {
    give(error, MPI_Scatterv(address(send), send_counts, send_displacements, type_of(send_type), address(receive),
                             *receive_count, type_of(receive_type), *root, comm_of(comm)));
}

TIMPANI_FORTRAN(allgather, ALLGATHER, void* send, Integer send_count, Integer send_type, void* receive,
                Integer receive_count, Integer receive_type, Integer comm, MPI_Fint* error) {
    give(error, MPI_Allgather(address(send), *send_count, type_of(send_type), address(receive), *receive_count,
                              type_of(receive_type), comm_of(comm)));
}

TIMPANI_FORTRAN(allgatherv, ALLGATHERV, void* send, Integer send_count, Integer send_type, void* receive,
                Integers receive_counts, Integers receive_displacements, Integer receive_type, Integer comm,
                MPI_Fint* error) {
    give(error, MPI_Allgatherv(address(send), *send_count, type_of(send_type), address(receive), receive_counts,
                               receive_displacements, type_of(receive_type), comm_of(comm)));
}

TIMPANI_FORTRAN(alltoall, ALLTOALL, void* send, Integer send_count, Integer send_type, void* receive,
                Integer receive_count, Integer receive_type, Integer comm, MPI_Fint* error) {
    give(error, MPI_Alltoall(address(send), *send_count, type_of(send_type), address(receive), *receive_count,
                             type_of(receive_type), comm_of(comm)));
}

TIMPANI_FORTRAN(alltoallv, ALLTOALLV, void* send, Integers send_counts, Integers send_displacements, Integer send_type,
                void* receive, Integers receive_counts, Integers receive_displacements, Integer receive_type,
                Integer comm, MPI_Fint* error) {
    give(error, MPI_Alltoallv(address(send), send_counts, send_displacements, type_of(send_type), address(receive),
                              receive_counts, receive_displacements, type_of(receive_type), comm_of(comm)));
}

TIMPANI_FORTRAN(reduce, REDUCE, void* send, void* receive, Integer count, Integer type, Integer op, Integer root,
                Integer comm, MPI_Fint* error) {
    give(error, MPI_Reduce(address(send), address(receive), *count, type_of(type), op_of(op), *root, comm_of(comm)));
}

TIMPANI_FORTRAN(allreduce, ALLREDUCE, void* send, void* receive, Integer count, Integer type, Integer op, Integer comm,
                MPI_Fint* error) {
    give(error, MPI_Allreduce(address(send), address(receive), *count, type_of(type), op_of(op), comm_of(comm)));
}

TIMPANI_FORTRAN(reduce_scatter, REDUCE_SCATTER, void* send, void* receive, Integers counts, Integer type, Integer op,
                Integer comm, MPI_Fint* error) {
    give(error, MPI_Reduce_scatter(address(send), address(receive), counts, type_of(type), op_of(op), comm_of(comm)));
}

TIMPANI_FORTRAN(reduce_scatter_block, REDUCE_SCATTER_BLOCK, void* send, void* receive, Integer count, Integer type,
                Integer op, Integer comm, MPI_Fint* error) {
    give(error,
         MPI_Reduce_scatter_block(address(send), address(receive), *count, type_of(type), op_of(op), comm_of(comm)));
}

TIMPANI_FORTRAN(scan, SCAN, void* send, void* receive, Integer count, Integer type, Integer op, Integer comm,
                MPI_Fint* error) {
    give(error, MPI_Scan(address(send), address(receive), *count, type_of(type), op_of(op), comm_of(comm)));
}

TIMPANI_FORTRAN(exscan, EXSCAN, void* send, void* receive, Integer count, Integer type, Integer op, Integer comm,
                MPI_Fint* error) {
    give(error, MPI_Exscan(address(send), address(receive), *count, type_of(type), op_of(op), comm_of(comm)));
}

}  // extern "C"
#pragma GCC visibility pop
