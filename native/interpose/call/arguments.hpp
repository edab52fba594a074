#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "interpose/call/intercepted_call.hpp"

namespace timpani {

/// Whether MPI defines the type. `type` must be valid: MPI reports others to the handler of MPI_COMM_WORLD.
inline bool predefined_type(MPI_Datatype type) {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/// Whether MPI defines the operator for reductions.
bool predefined_op(MPI_Op op);

/// The operator by its name in MPI, without the prefix and in lower case. The program's own operators are `user` if
/// they commute, else `user_ordered`. Static storage.
std::string_view operator_class(MPI_Op op);

/// The datatype: `double`, `int32`, `uint8`, …; `other` for further predefined types, `derived` for the program's own.
/// Static storage.
std::string_view datatype_class(MPI_Datatype type);

/// A rank, and the number of ranks in its communicator.
struct RankInComm {
    int rank;
    int ranks;
};

/// Whether the library accepts the arguments that MPI checks on this rank: counts, types, operator, root, the use of
/// MPI_IN_PLACE, and, if it checks this, that the two buffers differ. The library reports what is wrong.
///
/// This is the only decision about a call that one rank makes alone. So it may be false only where MPI forbids the
/// rank's arguments: a rank whose arguments are allowed would wait in the library, and the others in the algorithm. A
/// buffer is therefore checked with the elements that this rank has there, and may be null without any.
bool may_be_valid(const InterceptedCall& call, RankInComm here);

/// Bytes of data in an element, without gaps.
std::int64_t type_bytes(MPI_Datatype type);

/// Whether the rank sends from, or receives into, a buffer that its arguments describe.
bool sends(const InterceptedCall& call, RankInComm here);
bool receives(const InterceptedCall& call, RankInComm here);

/// Whether the rank reads and writes the same memory, which MPI forbids unless it is empty. Elements of different types
/// may be interleaved in memory.
bool aliased(const InterceptedCall& call, RankInComm here);

/// The collective's `message_bytes`, from arguments that MPI requires to be equal in bytes on all ranks, though types
/// and counts may differ. For a v-collective it is the rank's own block; for alltoallv the larger of all that it sends
/// and all that it receives.
std::int64_t message_bytes(const InterceptedCall& call, RankInComm here);

/// `message_bytes` of a call of which some arguments are invalid. No value if the arguments that it depends on are.
std::optional<std::int64_t> message_bytes_if_valid(const InterceptedCall& call, RankInComm here);

/// Bytes of each block that a v-collective's buffer describes.
std::vector<std::int64_t> block_bytes(const BufferArguments& buffer, RankInComm here);

}  // namespace timpani
