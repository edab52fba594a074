#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "measure/cell/buffers.hpp"
#include "measure/clock/global_clock.hpp"
#include "operations/operation.hpp"

namespace timpani {

/// One repetition as the operation's timed ranks saw it, nanoseconds; only rank 0 has it.
struct Repetition {
    std::int64_t completion;  // max end − min start, on the common clock
    std::int64_t latency;     // max over ranks of end − start
    std::int64_t average;     // mean over ranks of end − start, as OSU's benchmarks print it
    std::int64_t skew;        // max start − min start
    std::int64_t root_ahead;  // max end − rank 0's end: how long others were busy after the root was done
    bool valid;               // no rank that takes part came late to the deadline
};

/// The ranks that measure together, with the harness's private communicator.
struct Harness {
    MPI_Comm comm;
    int rank;
    int size;
    GlobalClock& clock;
};

/// Repetitions, and each timed rank's sum of end − start over the valid ones that don't settle; both empty but at rank
/// 0.
struct Block {
    std::vector<Repetition> repetitions;
    std::vector<std::int64_t> rank_sums_ns;
};

/// How the ranks are synchronised before each repetition.
///
/// batch > 0: not at all, for an operation whose own messages do it; `batch` calls are one repetition, and idle ranks
/// sleep meanwhile, so that they take no core from the others. Else slack_ns > 0: Round-Time (Hunold & Carpen-Amarie,
/// TPDS 2016): rank 0 announces a deadline `slack_ns` ahead and every rank spins until then; a rank that comes late
/// makes the repetition invalid. Else by a dissemination barrier.
struct Synchronisation {
    std::int64_t slack_ns = 0;
    int batch = 0;
};

/// Runs the operation `repetitions` times, the first `settling` of which find caches that others left.
Block run_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions,
                const Synchronisation& sync, int settling = 0);

/// As OSU's benchmarks of collectives do: MPI_Barrier between calls, and what the cache mode asks for before it.
Block run_osu_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions);

}  // namespace timpani
