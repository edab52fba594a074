#pragma once

#include <cstdint>
#include <vector>

#include "interpose/call.hpp"

namespace timpani {

/// Where a rank stands in its communicator.
struct Place {
    int rank;
    int ranks;
};

/// Whether the arguments that MPI looks at on this rank can be right: counts, types, operator, root, the use of
/// MPI_IN_PLACE, and that its two buffers are not one. What is wrong is the library's to say.
bool plausible(const Call& call, Place here);

/// Whether the rank sends from, or receives into, a buffer that its arguments describe.
bool sends(const Call& call, Place here);
bool receives(const Call& call, Place here);

/// What `message_bytes` counts for the collective, from arguments that MPI makes equal on all ranks in bytes, though
/// types and counts may differ; of a v-collective the rank's own block, and of alltoallv the larger of all that it
/// sends and all that it receives.
std::int64_t message_bytes(const Call& call, Place here);

/// Bytes of each block that a v-collective's side describes.
std::vector<std::int64_t> block_bytes(const Side& side, Place here);

}  // namespace timpani
