#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interpose/report/match_calls.hpp"

namespace timpani {

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
