#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
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

/// How much of a row's time passed before the ranks that a rank needs had entered. Estimated from the kept calls: the
/// ratio of waiting to time, times the row's total time.
struct Waiting {
    std::int64_t matched_calls = 0;  // in the estimate; 0: unknown
    double waiting_ns = 0;
    double error_ns = 0;  // half-width of the 95 % interval; 0 if all calls were kept
};

/// One for each row of `contents`.
std::vector<Waiting> waiting_of_rows(const CallTable::Contents& contents, std::span<const MatchedStratum> matched,
                                     const ClockLine& line);

/// How late this rank entered the kept calls of a stratum, after the first rank, in nanoseconds.
struct Lateness {
    double mean = 0;
    double deviation = 0;
    std::int64_t median = 0;
    std::int64_t ninth_decile = 0;
    std::int64_t largest = 0;
    std::int64_t last_calls = 0;  // calls that no rank entered later
    double mean_completion = 0;   // last exit − last entry
};
Lateness lateness_in(const MatchedStratum& matched, const ClockLine& line);

}  // namespace timpani
