#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/collective.hpp"

namespace timpani {

/// The collectives of operations.def, of which those are looked at that have entry points here.
enum class CollectiveKind : std::uint8_t {
#define COLLECTIVE(name, ...) name,
#include "collectives/operations.def"
};

inline constexpr std::array kCollectiveKinds{
#define COLLECTIVE(name, ...) CollectiveKind::name,
#include "collectives/operations.def"
};

inline const Collective& collective_of(CollectiveKind kind) { return collectives()[static_cast<std::size_t>(kind)]; }

/// What a call says of one of its buffers. `counts` and `displacements`, one a rank, are those of v-collectives, in
/// elements of `type`; else every block has `count`. Only read where it is sent from.
struct BufferArguments {
    void* data = nullptr;
    int count = 0;
    const int* counts = nullptr;
    const int* displacements = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// One call as the program made it. A broadcast's buffer is its `receive`; a reduction's type and count are there too,
/// with its operand in `send.data`.
struct InterceptedCall {
    CollectiveKind kind = CollectiveKind::barrier;
    MPI_Comm comm = MPI_COMM_NULL;
    BufferArguments send{};
    BufferArguments receive{};
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
};

}  // namespace timpani
