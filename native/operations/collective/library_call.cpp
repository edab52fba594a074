#include "operations/collective/library_call.hpp"

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "execute/rank_and_size.hpp"
#include "operations/operation.hpp"

namespace timpani {

namespace {

namespace int_counts {
using Arguments = LibraryArguments;
#define FORM(Function) MPI_##Function
#include "operations/collective/library_calls.def"
#undef FORM
}  // namespace int_counts

#ifdef TIMPANI_LARGE_COUNTS
namespace large_counts {
using Arguments = ArgumentsOf<MPI_Count, MPI_Aint>;
#define FORM(Function) MPI_##Function##_c
#include "operations/collective/library_calls.def"
#undef FORM
}  // namespace large_counts
#endif

/// The piece of a rank's buffer that is sent to `peer` or received from it.
Part piece(const CollectiveBuffers& buffers, bool received, const CollectiveArguments& args, int rank, int peer) {
    if (buffers.content == Content::part) return part_of(args.count, args.ranks, peer);
    if (buffers.content != Content::pairs) return block_of(args, peer);
    const auto block = received ? pair_block_of(args, peer, rank) : pair_block_of(args, rank, peer);
    return {received ? block.at_receiver : block.at_sender, block.count};
}

template <typename Arguments>
Arguments arguments_of(const Collective& collective, const CollectiveArguments& args, int rank, MPI_Comm comm,
                       MPI_Datatype type, MPI_Op op) {
    using Count = typename Arguments::Count;
    using Displacement = typename Arguments::Displacement;
    Arguments arguments{.comm = comm,
                        .type = type,
                        .op = op,
                        .rank = rank,
                        .root = args.root,
                        .count = static_cast<Count>(args.count),
                        .own_count = static_cast<Count>(block_of(args, rank).count)};
    const bool sent_by_arrays = collective.by_arrays(collective.send);
    const bool received_by_arrays =
        collective.by_arrays(collective.receive) || collective.receive.content == Content::part;
    for (int peer = 0; peer < args.ranks; ++peer) {
        if (sent_by_arrays) {
            const Part sent = piece(collective.send, false, args, rank, peer);
            arguments.send_counts.push_back(static_cast<Count>(sent.count));
            arguments.send_displacements.push_back(static_cast<Displacement>(sent.first));
        }
        if (received_by_arrays) {
            const Part received = piece(collective.receive, true, args, rank, peer);
            arguments.receive_counts.push_back(static_cast<Count>(received.count));
            arguments.receive_displacements.push_back(static_cast<Displacement>(received.first));
        }
    }
    return arguments;
}

template <typename Arguments, typename Table>
BoundLibraryCall bound(const Table& table, std::size_t number, Arguments arguments) {
    return [call = table[number], arguments = std::move(arguments)](void* send, void* receive) {
        return call(arguments, send, receive);
    };
}

std::size_t number_of(const Collective& collective) {
    return static_cast<std::size_t>(&collective - collectives().data());
}

}  // namespace

LibraryArguments library_arguments(const Collective& collective, const CollectiveArguments& args, int rank,
                                   MPI_Comm comm, MPI_Datatype type, MPI_Op op) {
    return arguments_of<LibraryArguments>(collective, args, rank, comm, type, op);
}

LibraryCall library_call(const Collective& collective) { return int_counts::all[number_of(collective)]; }

BoundLibraryCall bound_library_call(const Collective& collective, const CollectiveArguments& args, int rank,
                                    MPI_Comm comm, MPI_Datatype type, MPI_Op op) {
    const std::size_t number = number_of(collective);
    const std::int64_t largest = collective.largest_argument(args);
    if (largest <= std::numeric_limits<int>::max()) {
        return bound(int_counts::all, number, library_arguments(collective, args, rank, comm, type, op));
    }
#ifdef TIMPANI_LARGE_COUNTS
    using Arguments = large_counts::Arguments;
    if (is_linked(&MPI_Reduce_scatter_c))
        return bound(large_counts::all, number, arguments_of<Arguments>(collective, args, rank, comm, type, op));
#endif
    throw NotApplicable(std::string(collective.name) + " of " + std::to_string(args.count) + " elements on " +
                        std::to_string(args.ranks) + " ranks passes " + std::to_string(largest) +
                        " to MPI, more than its int arguments hold, and this library has no calls with large counts");
}

}  // namespace timpani
