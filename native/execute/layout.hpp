#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/collective.hpp"

namespace timpani {

/// A run of elements of a caller's buffer, and its place where schedules have it: blocks side by side in rank order.
struct Run {
    std::int64_t outside = 0;
    std::int64_t inside = 0;
    std::int64_t count = 0;
};

/// Where the blocks of a rank's two buffers are, in elements of the datatype, as MPI's v-collectives are told. Empty:
/// side by side.
struct Displacements {
    std::span<const int> send{};
    std::span<const int> receive{};
};

/// The send buffer of `rank`, and its receive buffer: one run a block where the collective has blocks there, else one.
std::vector<Run> send_runs(const Collective& collective, const Shape& shape, int rank, const Displacements& where);
std::vector<Run> receive_runs(const Collective& collective, const Shape& shape, int rank, const Displacements& where);

/// With MPI_IN_PLACE for the send buffer: what `rank` contributes, `outside` counting in its receive buffer.
std::vector<Run> in_place_runs(const Collective& collective, const Shape& shape, int rank, const Displacements& where);

}  // namespace timpani
