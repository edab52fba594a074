#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "interpose/report/concurrent_calls.hpp"
#include "interpose/report/longest_calls.hpp"
#include "interpose/report/match_calls.hpp"

namespace timpani {

/// Totals of the calls of one row, on one rank or on several.
struct RowValues {
    CallTotals totals{};            // its root is the most frequent one
    std::int64_t ns_max = 0;        // maximum over ranks
    std::int64_t rooted_calls = 0;  // calls with a root, each counted by its root
    std::int64_t matched_ns = 0;    // of ranks whose waiting is known
    Waiting waiting{};              // its error is the sum of the ranks' errors, which may have one cause

    void add(const RowValues& other);
};

/// Rows by their key, a JSON object without its closing brace; the longest calls; and whole JSON objects.
struct ReportLines {
    std::map<std::string, RowValues> rows{};
    std::vector<LongCall> longest{};
    std::vector<std::string> others{};
    std::size_t compared_strata = 0;  // that `ConcurrentCalls` compared

    void add(const std::string& text);
    [[nodiscard]] std::string text() const;
};

/// This rank's report. `rank` is −1 if MPI_COMM_WORLD is unknown.
ReportLines lines_of_rank(int rank, const CallTable::Contents& contents, const std::vector<MatchedStratum>& matched,
                          const ClockLine& line);

/// The line of a row.
std::string row_line(const std::string& key, const RowValues& values);

/// The line of two strata whose calls ran at the same time.
std::string concurrent_line(const Concurrency& pair);

}  // namespace timpani
