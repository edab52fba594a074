#pragma once

#include <mpi.h>

#include <vector>

#include "operations/collective/library_call.hpp"

namespace timpani::test {

#ifdef MPICH_VERSION
/// The bytes of `count` elements at `data`, gaps included.
inline std::vector<char> copy_of(const void* data, int count, MPI_Datatype type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    const auto* bytes = static_cast<const char*>(data);
    return {bytes, bytes + count * extent};
}

// Two calls of MPICH 4.0.2 are wrong. MPI_Reduce in place ends the program at a root other than 0 from 2 KiB on.
// MPI_Reduce_scatter_block gives wrong data for operators that do not commute on types with gaps. Correct calls replace
// them: not in place, and a reduction followed by a scatter.
inline int reduce(const LibraryArguments& a, void* send, void* receive) {
    if (send != MPI_IN_PLACE) return MPI_Reduce(send, receive, a.count, a.type, a.op, a.root, a.comm);
    const auto own = copy_of(receive, a.count, a.type);
    return MPI_Reduce(own.data(), receive, a.count, a.type, a.op, a.root, a.comm);
}
inline int reduce_scatter_block(const LibraryArguments& a, void* send, void* receive) {
    int ranks = 0;
    MPI_Comm_size(a.comm, &ranks);
    const auto own = copy_of(send == MPI_IN_PLACE ? receive : send, a.count * ranks, a.type);
    auto all = own;
    if (const int error = MPI_Reduce(own.data(), all.data(), a.count * ranks, a.type, a.op, 0, a.comm)) return error;
    return MPI_Scatter(all.data(), a.count, a.type, receive, a.count, a.type, 0, a.comm);
}

/// The call that Timpani's algorithms for the collective are compared with.
inline LibraryCall reference_call(const Collective& collective) {
    if (collective.name == "reduce") return reduce;
    return collective.name == "reduce_scatter_block" ? reduce_scatter_block : library_call(collective);
}
#else
/// The call that Timpani's algorithms for the collective are compared with.
inline LibraryCall reference_call(const Collective& collective) { return library_call(collective); }
#endif

}  // namespace timpani::test
