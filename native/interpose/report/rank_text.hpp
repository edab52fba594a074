#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "interpose/report/match_calls.hpp"

namespace timpani {

/// What calls of one row moved and took, on one rank or on several.
struct RowValues {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    std::int64_t ns = 0;
    std::int64_t ns_max = 0;      // most of any rank
    std::int64_t longest_ns = 0;  // call of any rank
    double root_share = 0;        // of the calls in which one rank is the root, the rank with most
    std::int64_t matched_calls = 0;
    std::int64_t matched_ns = 0;  // of ranks that know how long they waited
    double waiting_ns = 0;
    double waiting_error_ns = 0;  // sum of the ranks' errors, which may have one cause

    void add(const RowValues& other);
};

/// Rows by their key, a JSON object without its closing brace; and whole JSON objects.
struct ReportLines {
    std::map<std::string, RowValues> rows{};
    std::vector<std::string> others{};

    void add(const std::string& text);
    [[nodiscard]] std::string text() const;
};

/// What this rank reports. `rank` is −1 where MPI_COMM_WORLD is unknown.
ReportLines lines_of_rank(int rank, const CallTable::Contents& contents, const std::vector<MatchedStratum>& matched,
                          const ClockLine& line);

/// What this rank's program is called.
std::string program_name();

}  // namespace timpani
