#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operations/operation.hpp"

namespace timpani {

/// How cells are measured: our way; OSU's; not timed but counted; or merely called, for a library that counts by
/// itself.
enum class Method { timpani, osu, count_messages, call };
enum class Start { round_time, barrier };
enum class CacheMode { warm, rotate, flush };

/// One cell of a launch. Some libraries read their control variables when a communicator is created, others at each
/// call.
struct CellPlan {
    int id = 0;
    std::string operation;
    std::int64_t message_bytes = 0;
    CacheMode mode = CacheMode::warm;
    Controls at_creation;
    Controls at_call;
    std::string algorithm;  // of ours, or a way of doing the operation, with parameters: `knomial:radix=4`,
                            // `default:first=0,second=1`; empty for the library's own collective
};

/// Cells of one operation, size and cache mode, which are compared with each other and therefore measured in turn.
struct Point {
    std::vector<CellPlan> cells;
    std::optional<int> rounds;  // of turns; without, as many as the plan's precision takes
};

/// Points that are measured on one communicator: of the first `ranks` of the launch, of all where it is 0.
struct Section {
    int ranks = 0;
    std::vector<Point> points;
};

/// An artificial error of one rank's clock, by which tests show that completion times do not depend on it.
struct ClockSkew {
    int rank = 0;
    std::int64_t offset_ns = 0;
    double drift_ppm = 0;
};

/// What one launch of the measuring program is told. Written by Python, read once, never changed.
struct Plan {
    Method method = Method::timpani;
    Start start = Start::round_time;
    std::string datatype = "uint8";
    double precision = 0.05;         // relative half-width of the median's 95 % interval that ends a cell
    std::int64_t time_limit_ns = 0;  // longest time for one cell
    std::optional<int> warmup;       // fixed numbers: instead of our stop rule or of OSU's defaults,
    std::optional<int> repetitions;
    std::optional<int> twice;  // the cell that `call` calls twice, in place of once
    std::vector<ClockSkew> skews;
    bool include_setup = false;      // of our algorithms, in each call
    bool by_rules = false;           // libtimpani.so with rules is to be beneath
    std::vector<int> node_of_rank;   // where whoever wrote the plan knows it; else empty, and MPI is asked
    std::vector<int> group_of_rank;  // of equal length
    std::uint64_t seed = 0;          // of the order in which a point's cells take turns
    std::optional<double> lose_at;   // a rival that takes so many times the fastest's time gets no more turns
    bool probe = false;              // whether the state of the machine is measured before and after each point
    std::vector<Section> sections;
};

/// Reads the plan's text: a line `timpani-plan 1`, then one `key value…` a line; `#` begins a comment. The cells after
/// a line `point`, up to the next, are one point, or `point R`, one of R rounds; a cell before any such line is a point
/// by itself. A line `ranks N` begins a section on the first N ranks; what comes before any is measured on all. Throws
/// std::runtime_error that names the line.
Plan parse_plan(const std::string& text);

}  // namespace timpani
