#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace timpani::test {

/// What the calls below take from a trial. Counts and places are a rank's own, one a peer.
struct Arguments {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
    int count = 0;
    std::vector<int> send_counts;
    std::vector<int> receive_counts;
    std::vector<int> send_places;
    std::vector<int> receive_places;

    /// Elements of the block that this rank has of its own where blocks are one a rank.
    [[nodiscard]] int own() const {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        return send_counts[static_cast<std::size_t>(rank)];
    }
};

/// Which buffer may be MPI_IN_PLACE, and where.
enum class InPlace { never, send, send_at_root, receive_at_root };

/// How the MPI library is asked for a collective.
struct LibraryCall {
    std::string_view collective;
    bool has_root;
    InPlace in_place;
    int (*call)(const Arguments&, void* send, void* receive);
};

inline int broadcast(const Arguments& a, void* send, void* receive) {
    int rank = 0;
    MPI_Comm_rank(a.comm, &rank);
    return MPI_Bcast(rank == a.root ? send : receive, a.count, a.type, a.root, a.comm);
}

/// What `count` elements at `data` take and hold, as they are.
inline std::vector<char> copy_of(const void* data, int count, MPI_Datatype type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    const auto* bytes = static_cast<const char*>(data);
    return {bytes, bytes + count * extent};
}

#ifdef MPICH_VERSION
// Two calls of MPICH 4.0.2 are no measure of others: MPI_Reduce in place ends the program at a root other than 0 from
// 2 KiB on, and MPI_Reduce_scatter_block gives wrong data for operators that do not commute on types with gaps. What
// they should give is asked of calls that do: not in place, and a reduction followed by a scatter.
inline int reduce(const Arguments& a, void* send, void* receive) {
    if (send != MPI_IN_PLACE) return MPI_Reduce(send, receive, a.count, a.type, a.op, a.root, a.comm);
    const auto own = copy_of(receive, a.count, a.type);
    return MPI_Reduce(own.data(), receive, a.count, a.type, a.op, a.root, a.comm);
}
inline int reduce_scatter_block(const Arguments& a, void* send, void* receive) {
    int ranks = 0;
    MPI_Comm_size(a.comm, &ranks);
    const auto own = copy_of(send == MPI_IN_PLACE ? receive : send, a.count * ranks, a.type);
    auto all = own;
    if (const int error = MPI_Reduce(own.data(), all.data(), a.count * ranks, a.type, a.op, 0, a.comm)) return error;
    return MPI_Scatter(all.data(), a.count, a.type, receive, a.count, a.type, 0, a.comm);
}
#else
inline int reduce(const Arguments& a, void* send, void* receive) {
    return MPI_Reduce(send, receive, a.count, a.type, a.op, a.root, a.comm);
}
inline int reduce_scatter_block(const Arguments& a, void* send, void* receive) {
    return MPI_Reduce_scatter_block(send, receive, a.count, a.type, a.op, a.comm);
}
#endif

inline const LibraryCall& library_call(std::string_view collective) {
    using A = const Arguments&;
    static const std::array<LibraryCall, 16> all{{
        {"barrier", false, InPlace::never, [](A a, void*, void*) { return MPI_Barrier(a.comm); }},
        {"bcast", true, InPlace::never, broadcast},
        {"gather", true, InPlace::send_at_root,
         [](A a, void* s, void* r) { return MPI_Gather(s, a.count, a.type, r, a.count, a.type, a.root, a.comm); }},
        {"scatter", true, InPlace::receive_at_root,
         [](A a, void* s, void* r) { return MPI_Scatter(s, a.count, a.type, r, a.count, a.type, a.root, a.comm); }},
        {"gatherv", true, InPlace::send_at_root,
         [](A a, void* s, void* r) {
             return MPI_Gatherv(s, a.own(), a.type, r, a.receive_counts.data(), a.receive_places.data(), a.type, a.root,
                                a.comm);
         }},
        {"scatterv", true, InPlace::receive_at_root,
         [](A a, void* s, void* r) {
             return MPI_Scatterv(s, a.send_counts.data(), a.send_places.data(), a.type, r, a.own(), a.type, a.root,
                                 a.comm);
         }},
        {"allgather", false, InPlace::send,
         [](A a, void* s, void* r) { return MPI_Allgather(s, a.count, a.type, r, a.count, a.type, a.comm); }},
        {"allgatherv", false, InPlace::send,
         [](A a, void* s, void* r) {
             return MPI_Allgatherv(s, a.own(), a.type, r, a.receive_counts.data(), a.receive_places.data(), a.type,
                                   a.comm);
         }},
        {"alltoall", false, InPlace::send,
         [](A a, void* s, void* r) { return MPI_Alltoall(s, a.count, a.type, r, a.count, a.type, a.comm); }},
        {"alltoallv", false, InPlace::send,
         [](A a, void* s, void* r) {
             return MPI_Alltoallv(s, a.send_counts.data(), a.send_places.data(), a.type, r, a.receive_counts.data(),
                                  a.receive_places.data(), a.type, a.comm);
         }},
        {"reduce", true, InPlace::send_at_root, reduce},
        {"allreduce", false, InPlace::send,
         [](A a, void* s, void* r) { return MPI_Allreduce(s, r, a.count, a.type, a.op, a.comm); }},
        {"reduce_scatter", false, InPlace::send,
         [](A a, void* s, void* r) { return MPI_Reduce_scatter(s, r, a.receive_counts.data(), a.type, a.op, a.comm); }},
        {"reduce_scatter_block", false, InPlace::send, reduce_scatter_block},
        {"scan", false, InPlace::send,
         [](A a, void* s, void* r) { return MPI_Scan(s, r, a.count, a.type, a.op, a.comm); }},
        {"exscan", false, InPlace::send,
         [](A a, void* s, void* r) { return MPI_Exscan(s, r, a.count, a.type, a.op, a.comm); }},
    }};
    const auto* found = std::ranges::find(all, collective, &LibraryCall::collective);
    if (found == all.end()) throw std::runtime_error("no call is known for " + std::string(collective));
    return *found;
}

}  // namespace timpani::test
