#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/collective.hpp"

namespace timpani {

/// A block of a caller's buffer, and its offset in the packed buffer of schedules: block after block in rank order. In
/// elements of the datatype.
struct PackedBlock {
    std::int64_t displacement = 0;
    std::int64_t offset = 0;
    std::int64_t count = 0;
};

/// Where the blocks of a rank's two buffers are, in elements of the datatype, as in MPI's v-collectives. Empty: one
/// after another.
struct Displacements {
    std::span<const int> send{};
    std::span<const int> receive{};
};

/// The blocks of the send buffer of `rank`, and of its receive buffer. A buffer without blocks is one block.
std::vector<PackedBlock> send_blocks(const Collective& collective, const CollectiveArguments& args, int rank,
                                     const Displacements& where);
std::vector<PackedBlock> receive_blocks(const Collective& collective, const CollectiveArguments& args, int rank,
                                        const Displacements& where);

/// With MPI_IN_PLACE as send buffer: what `rank` contributes, with displacements in its receive buffer.
std::vector<PackedBlock> in_place_blocks(const Collective& collective, const CollectiveArguments& args, int rank,
                                         const Displacements& where);

}  // namespace timpani
