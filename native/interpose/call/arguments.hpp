#pragma once

#include <cstdint>
#include <vector>

#include "interpose/call/intercepted_call.hpp"

namespace timpani {

/// A rank, and how many there are in its communicator.
struct RankInComm {
    int rank;
    int ranks;
};

/// Whether the library takes the arguments that MPI looks at on this rank: counts, types, operator, root, the use of
/// MPI_IN_PLACE, and, where it looks for that, that its two buffers are not one. It reports what is wrong.
bool may_be_valid(const InterceptedCall& call, RankInComm here);

/// Bytes of data in an element, without gaps.
std::int64_t type_bytes(MPI_Datatype type);

/// Whether the rank sends from, or receives into, a buffer that its arguments describe.
bool sends(const InterceptedCall& call, RankInComm here);
bool receives(const InterceptedCall& call, RankInComm here);

/// Whether the rank reads and writes the same memory, which MPI forbids where anything is in it. Elements of different
/// types may lie beside each other.
bool aliased(const InterceptedCall& call, RankInComm here);

/// What `message_bytes` counts for the collective, from arguments that MPI makes equal on all ranks in bytes, though
/// types and counts may differ; of a v-collective the rank's own block, and of alltoallv the larger of all that it
/// sends and all that it receives.
std::int64_t message_bytes(const InterceptedCall& call, RankInComm here);

/// Bytes of each block that a v-collective's buffer describes.
std::vector<std::int64_t> block_bytes(const BufferArguments& buffer, RankInComm here);

}  // namespace timpani
