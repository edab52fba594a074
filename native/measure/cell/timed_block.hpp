#pragma once

#include <cstdint>

#include "measure/cell/buffers.hpp"
#include "measure/cell/harness.hpp"
#include "measure/cell/rank_timing.hpp"
#include "measure/clock/lateness.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// How the ranks are synchronized before each repetition. The first case that applies holds:
///
/// batch > 0     not at all, for an operation whose messages synchronize the ranks; `batch` calls are one repetition.
///               Idle ranks sleep meanwhile, so they use no core
/// slack_ns > 0  by Round-Time (Hunold & Carpen-Amarie, TPDS 2016): rank 0 announces a deadline `slack_ns` ahead,
///               and every rank spins until then; a rank that misses it makes the repetition invalid
/// else          by a dissemination barrier
///
/// `lateness`, which is not owned: how much later than that each rank enters; not with a batch.
struct Synchronization {
    std::int64_t slack_ns = 0;
    int batch = 0;
    InjectedLateness* lateness = nullptr;
};

/// Runs the operation `repetitions` times. The first `settling` calls find caches that other calls filled.
Block run_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions,
                const Synchronization& sync, int settling = 0);

/// Like OSU's benchmarks of collectives: MPI_Barrier between calls, and before it what the cache mode requires.
Block run_osu_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions);

}  // namespace timpani
