#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace timpani {

/// The blocking collectives that can be replaced.
enum class Kind : std::uint8_t {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    reduce,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
};

constexpr std::array<std::string_view, 16> kKindNames{
    "barrier",    "bcast",    "gather",    "gatherv", "scatter",   "scatterv",       "allgather",
    "allgatherv", "alltoall", "alltoallv", "reduce",  "allreduce", "reduce_scatter", "reduce_scatter_block",
    "scan",       "exscan"};

constexpr std::string_view name_of(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }
constexpr bool reduces(Kind kind) { return kind >= Kind::reduce; }
constexpr bool has_root(Kind kind) { return kind == Kind::reduce || (kind >= Kind::bcast && kind <= Kind::scatterv); }
/// Whether blocks may differ in size, so that a rank knows some of them only.
constexpr bool has_unequal_blocks(Kind kind) {
    return kind == Kind::gatherv || kind == Kind::scatterv || kind == Kind::allgatherv || kind == Kind::alltoallv;
}

/// Whether ranks have to tell each other of their blocks: of the above, where not every rank is told all.
constexpr bool told_to_each_other(Kind kind) { return has_unequal_blocks(kind) && kind != Kind::allgatherv; }

/// What a call says of one of its buffers. `counts` and `places`, one a rank, are those of v-collectives, in elements
/// of `type`; else every block has `count`. Only read where it is sent from.
struct Side {
    void* data = nullptr;
    int count = 0;
    const int* counts = nullptr;
    const int* places = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// One call as the program made it. A broadcast's buffer is its `receive`; a reduction's type and count are there too,
/// with its operand in `send.data`.
struct Call {
    Kind kind = Kind::barrier;
    MPI_Comm comm = MPI_COMM_NULL;
    Side send{};
    Side receive{};
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
};

}  // namespace timpani
