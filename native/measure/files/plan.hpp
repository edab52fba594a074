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

enum class ArrivalKind { together, one_late, sorted, random, recorded };

/// How late ranks enter a call, for all repetitions of a point.
struct ArrivalPattern {
    ArrivalKind kind = ArrivalKind::together;
    double delay = 0;                       // of the latest rank: nanoseconds, or times what the library's call takes
    bool in_calls = false;                  // which of the two
    std::vector<std::int64_t> lateness_ns;  // of each rank, where recorded
};

/// Cells of one operation, size and cache mode, which are compared with each other and therefore measured in turn.
struct Point {
    std::vector<CellPlan> cells;
    ArrivalPattern arrival;
    std::optional<int> rounds;  // of turns; without, as many as the plan's precision takes
};

/// An artificial error of one rank's clock, by which tests show that completion times do not depend on it.
struct ClockSkew {
    int rank = 0;
    std::int64_t offset_ns = 0;
    double drift_ppm = 0;
};

using Text = std::string;
using OptionalInt = std::optional<int>;
using OptionalReal = std::optional<double>;

/// What one launch of the measuring program is told. Written by Python, read once, never changed.
struct Plan {
    using enum Method;
    using enum Start;
    static constexpr std::nullopt_t nullopt = std::nullopt;
#define PLAN_KEY(name, Type, initial, meaning) Type name = initial;
#include "measure/files/plan_keys.def"
    std::vector<ClockSkew> skews;
    std::vector<int> node_of_rank;   // where whoever wrote the plan knows it; else empty, and MPI is asked
    std::vector<int> group_of_rank;  // of equal length
    std::vector<Point> points;
};

/// Reads the plan's text: a line `timpani-plan 1`, then one `key value…` a line; `#` begins a comment. The cells after
/// a line `point`, up to the next, are one point, or `point R`, one of R rounds; a cell before any such line is a point
/// by itself. A line `arrival` after `point` gives its pattern: `arrival one_late 50000 ns`, `arrival sorted 2 calls`,
/// `arrival random …`, or `arrival recorded` and each rank's nanoseconds. Throws std::runtime_error that names the
/// line.
Plan parse_plan(const std::string& text);

}  // namespace timpani
