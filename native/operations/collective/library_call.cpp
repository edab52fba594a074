#include "operations/collective/library_call.hpp"

#include <array>

namespace timpani {

namespace {

using Arguments = LibraryArguments;

/// One function for each collective of operations.def, by its name.
namespace calls {

int barrier(const Arguments& a, void*, void*) { return MPI_Barrier(a.comm); }
int bcast(const Arguments& a, void* send, void* receive) {
    return MPI_Bcast(a.rank == a.root ? send : receive, a.count, a.type, a.root, a.comm);
}
int gather(const Arguments& a, void* send, void* receive) {
    return MPI_Gather(send, a.count, a.type, receive, a.count, a.type, a.root, a.comm);
}
int scatter(const Arguments& a, void* send, void* receive) {
    return MPI_Scatter(send, a.count, a.type, receive, a.count, a.type, a.root, a.comm);
}
int allgather(const Arguments& a, void* send, void* receive) {
    return MPI_Allgather(send, a.count, a.type, receive, a.count, a.type, a.comm);
}
int gatherv(const Arguments& a, void* send, void* receive) {
    return MPI_Gatherv(send, a.own_count, a.type, receive, a.receive_counts.data(), a.receive_displacements.data(),
                       a.type, a.root, a.comm);
}
int scatterv(const Arguments& a, void* send, void* receive) {
    return MPI_Scatterv(send, a.send_counts.data(), a.send_displacements.data(), a.type, receive, a.own_count, a.type,
                        a.root, a.comm);
}
int allgatherv(const Arguments& a, void* send, void* receive) {
    return MPI_Allgatherv(send, a.own_count, a.type, receive, a.receive_counts.data(), a.receive_displacements.data(),
                          a.type, a.comm);
}
int alltoall(const Arguments& a, void* send, void* receive) {
    return MPI_Alltoall(send, a.count, a.type, receive, a.count, a.type, a.comm);
}
int alltoallv(const Arguments& a, void* send, void* receive) {
    return MPI_Alltoallv(send, a.send_counts.data(), a.send_displacements.data(), a.type, receive,
                         a.receive_counts.data(), a.receive_displacements.data(), a.type, a.comm);
}
int reduce(const Arguments& a, void* send, void* receive) {
    return MPI_Reduce(send, receive, a.count, a.type, a.op, a.root, a.comm);
}
int allreduce(const Arguments& a, void* send, void* receive) {
    return MPI_Allreduce(send, receive, a.count, a.type, a.op, a.comm);
}
int reduce_scatter(const Arguments& a, void* send, void* receive) {
    return MPI_Reduce_scatter(send, receive, a.receive_counts.data(), a.type, a.op, a.comm);
}
int reduce_scatter_block(const Arguments& a, void* send, void* receive) {
    return MPI_Reduce_scatter_block(send, receive, a.count, a.type, a.op, a.comm);
}
int scan(const Arguments& a, void* send, void* receive) {
    return MPI_Scan(send, receive, a.count, a.type, a.op, a.comm);
}
int exscan(const Arguments& a, void* send, void* receive) {
    return MPI_Exscan(send, receive, a.count, a.type, a.op, a.comm);
}

}  // namespace calls

constexpr std::array kCalls{
#define COLLECTIVE(name, ...) calls::name,
#include "collectives/operations.def"
};

/// The piece of a rank's buffer that is for `peer`, or from it.
Part piece(const CollectiveBuffers& buffers, bool received, const CollectiveArguments& args, int rank, int peer) {
    if (buffers.content == Content::part) return part_of(args.count, args.ranks, peer);
    if (buffers.content != Content::pairs) return block_of(args, peer);
    const auto block = received ? pair_block_of(args, peer, rank) : pair_block_of(args, rank, peer);
    return {received ? block.at_receiver : block.at_sender, block.count};
}

}  // namespace

LibraryArguments library_arguments(const Collective& collective, const CollectiveArguments& args, int rank,
                                   MPI_Comm comm, MPI_Datatype type, MPI_Op op) {
    LibraryArguments arguments{.comm = comm,
                               .type = type,
                               .op = op,
                               .rank = rank,
                               .root = args.root,
                               .count = static_cast<int>(args.count),
                               .own_count = static_cast<int>(block_of(args, rank).count)};
    for (int peer = 0; peer < args.ranks; ++peer) {
        const Part sent = piece(collective.send, false, args, rank, peer);
        const Part received = piece(collective.receive, true, args, rank, peer);
        arguments.send_counts.push_back(static_cast<int>(sent.count));
        arguments.send_displacements.push_back(static_cast<int>(sent.first));
        arguments.receive_counts.push_back(static_cast<int>(received.count));
        arguments.receive_displacements.push_back(static_cast<int>(received.first));
    }
    return arguments;
}

LibraryCall library_call(const Collective& collective) {
    return kCalls[static_cast<std::size_t>(&collective - collectives().data())];
}

}  // namespace timpani
