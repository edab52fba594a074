// MPI's own names, as a C program calls them.

#pragma GCC visibility push(default)  // the library is compiled with all names hidden; these are what it is for
#include <mpi.h>
#pragma GCC visibility pop

#include "interpose/finish.hpp"
#include "interpose/intercept.hpp"
#include "interpose/world.hpp"

using timpani::BufferArguments;
using timpani::CollectiveKind;
using timpani::intercept;

namespace {

/// A buffer that is only read; where it is described by one count, or by arrays.
BufferArguments buffer(const void* data, int count, MPI_Datatype type) {
    return {.data = const_cast<void*>(data), .count = count, .type = type};
}
BufferArguments buffer(const void* data, const int* counts, const int* displacements, MPI_Datatype type) {
    return {.data = const_cast<void*>(data), .counts = counts, .displacements = displacements, .type = type};
}

/// Before the program gives a communicator up.
void end_windows(const MPI_Comm* comm) {
    if (timpani::intercepting() && comm != nullptr && *comm != MPI_COMM_NULL) timpani::Communicator::end_windows(*comm);
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    const int error = PMPI_Init(argc, argv);
    if (error == MPI_SUCCESS) timpani::World::begin();
    return error;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const int error = PMPI_Init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS) timpani::World::begin();
    return error;
}

int MPI_Finalize() {
    timpani::finish();
    return PMPI_Finalize();
}

int MPI_Comm_free(MPI_Comm* comm) {
    end_windows(comm);
    return PMPI_Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
    end_windows(comm);
    return PMPI_Comm_disconnect(comm);
}

int MPI_Barrier(MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::barrier, .comm = comm}, [&] { return PMPI_Barrier(comm); });
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::bcast, .comm = comm, .receive = buffer(data, count, type), .root = root},
                     [&] { return PMPI_Bcast(data, count, type, root, comm); });
}

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm) {
    return intercept(
        {.kind = CollectiveKind::gather,
         .comm = comm,
         .send = buffer(send, send_count, send_type),
         .receive = buffer(receive, receive_count, receive_type),
         .root = root},
        [&] { return PMPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, root, comm); });
}

int MPI_Gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* receive_counts,
                const int* receive_displacements, MPI_Datatype receive_type, int root, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::gatherv,
                      .comm = comm,
                      .send = buffer(send, send_count, send_type),
                      .receive = buffer(receive, receive_counts, receive_displacements, receive_type),
                      .root = root},
                     [&] {
                         return PMPI_Gatherv(send, send_count, send_type, receive, receive_counts,
                                             receive_displacements, receive_type, root, comm);
                     });
}

int MPI_Scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm) {
    return intercept(
        {.kind = CollectiveKind::scatter,
         .comm = comm,
         .send = buffer(send, send_count, send_type),
         .receive = buffer(receive, receive_count, receive_type),
         .root = root},
        [&] { return PMPI_Scatter(send, send_count, send_type, receive, receive_count, receive_type, root, comm); });
}

int MPI_Scatterv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
                 void* receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::scatterv,
                      .comm = comm,
                      .send = buffer(send, send_counts, send_displacements, send_type),
                      .receive = buffer(receive, receive_count, receive_type),
                      .root = root},
                     [&] {
                         return PMPI_Scatterv(send, send_counts, send_displacements, send_type, receive, receive_count,
                                              receive_type, root, comm);
                     });
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm) {
    return intercept(
        {.kind = CollectiveKind::allgather,
         .comm = comm,
         .send = buffer(send, send_count, send_type),
         .receive = buffer(receive, receive_count, receive_type)},
        [&] { return PMPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm); });
}

int MPI_Allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* receive_counts,
                   const int* receive_displacements, MPI_Datatype receive_type, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::allgatherv,
                      .comm = comm,
                      .send = buffer(send, send_count, send_type),
                      .receive = buffer(receive, receive_counts, receive_displacements, receive_type)},
                     [&] {
                         return PMPI_Allgatherv(send, send_count, send_type, receive, receive_counts,
                                                receive_displacements, receive_type, comm);
                     });
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm) {
    return intercept(
        {.kind = CollectiveKind::alltoall,
         .comm = comm,
         .send = buffer(send, send_count, send_type),
         .receive = buffer(receive, receive_count, receive_type)},
        [&] { return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm); });
}

int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
                  void* receive, const int* receive_counts, const int* receive_displacements, MPI_Datatype receive_type,
                  MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::alltoallv,
                      .comm = comm,
                      .send = buffer(send, send_counts, send_displacements, send_type),
                      .receive = buffer(receive, receive_counts, receive_displacements, receive_type)},
                     [&] {
                         return PMPI_Alltoallv(send, send_counts, send_displacements, send_type, receive,
                                               receive_counts, receive_displacements, receive_type, comm);
                     });
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::reduce,
                      .comm = comm,
                      .send = {.data = const_cast<void*>(send)},
                      .receive = buffer(receive, count, type),
                      .op = op,
                      .root = root},
                     [&] { return PMPI_Reduce(send, receive, count, type, op, root, comm); });
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::allreduce,
                      .comm = comm,
                      .send = {.data = const_cast<void*>(send)},
                      .receive = buffer(receive, count, type),
                      .op = op},
                     [&] { return PMPI_Allreduce(send, receive, count, type, op, comm); });
}

int MPI_Reduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::reduce_scatter,
                      .comm = comm,
                      .send = {.data = const_cast<void*>(send)},
                      .receive = buffer(receive, counts, nullptr, type),
                      .op = op},
                     [&] { return PMPI_Reduce_scatter(send, receive, counts, type, op, comm); });
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::reduce_scatter_block,
                      .comm = comm,
                      .send = {.data = const_cast<void*>(send)},
                      .receive = buffer(receive, count, type),
                      .op = op},
                     [&] { return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm); });
}

int MPI_Scan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::scan,
                      .comm = comm,
                      .send = {.data = const_cast<void*>(send)},
                      .receive = buffer(receive, count, type),
                      .op = op},
                     [&] { return PMPI_Scan(send, receive, count, type, op, comm); });
}

int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return intercept({.kind = CollectiveKind::exscan,
                      .comm = comm,
                      .send = {.data = const_cast<void*>(send)},
                      .receive = buffer(receive, count, type),
                      .op = op},
                     [&] { return PMPI_Exscan(send, receive, count, type, op, comm); });
}

}  // extern "C"
