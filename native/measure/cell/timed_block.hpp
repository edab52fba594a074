#pragma once

#include <cstdint>

#include "measure/cell/buffers.hpp"
#include "measure/cell/harness.hpp"
#include "measure/cell/rank_timing.hpp"
#include "measure/clock/lateness.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// How the ranks are synchronized before each repetition.
///
/// batch > 0: not at all, for an operation whose own messages do it; `batch` calls are one repetition, and idle ranks
/// sleep meanwhile, so that they take no core from the others. Else slack_ns > 0: Round-Time (Hunold & Carpen-Amarie,
/// TPDS 2016): rank 0 announces a deadline `slack_ns` ahead and every rank spins until then; a rank that comes late
/// makes the repetition invalid. Else by a dissemination barrier.
///
/// `lateness`, which is not owned: how much later each rank enters than that; not with a batch.
struct Synchronization {
    std::int64_t slack_ns = 0;
    int batch = 0;
    Lateness* lateness = nullptr;
};

/// Runs the operation `repetitions` times, the first `settling` of which find caches that others left.
Block run_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions,
                const Synchronization& sync, int settling = 0);

/// As OSU's benchmarks of collectives do: MPI_Barrier between calls, and what the cache mode asks for before it.
Block run_osu_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions);

}  // namespace timpani
