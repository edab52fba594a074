#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "interpose/profile/call_table.hpp"
#include "interpose/report/concurrent_calls.hpp"
#include "measure/clock/global_clock.hpp"

namespace timpani {

/// When the ranks of one call entered and left, on the common clock in nanoseconds.
struct MatchedCall {
    std::int64_t first_entry;
    std::int64_t last_entry;
    std::int64_t root_entry;  // in a rooted collective
    std::int64_t last_exit;
    std::int64_t number;  // of the call in its stratum
};

/// The kept calls of a stratum, in order; empty if the ranks counted different numbers of calls.
struct MatchedStratum {
    std::uint64_t id;
    const Stratum* stratum;
    std::vector<MatchedCall> calls;
};

/// The strata of this rank whose calls every rank of their communicator has counted. Collective over `comm`. Empty if
/// several threads call collectives, since their order may differ between ranks. `concurrent`, if any, is given the
/// strata of all ranks.
std::vector<MatchedStratum> match_calls(MPI_Comm comm, const CallTable::Contents& contents, const ClockLine& line,
                                        ConcurrentCalls* concurrent);

}  // namespace timpani
