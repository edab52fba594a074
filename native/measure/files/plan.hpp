#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operations/operation.hpp"

namespace timpani {

/// How cells are measured: as Timpani does, or as OSU does. Untimed calls count messages, record what is in the
/// buffers, read the order in which a reduction adds, or are for a library that counts messages itself.
enum class Method { timpani, osu, count_messages, record_buffers, read_order, call };
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
    std::string algorithm;  // a Timpani algorithm, or a way to do the operation, with parameters: `knomial:radix=4`,
                            // `default:first=0,second=1`; empty for the library's collective
};

enum class ArrivalKind { together, one_late, sorted, random };

/// How late ranks enter a call, for all repetitions of a point.
struct ArrivalPattern {
    ArrivalKind kind = ArrivalKind::together;
    double delay = 0;       // of the latest rank: nanoseconds, or multiples of the library's call time
    bool in_calls = false;  // whether `delay` is in multiples of the call time
};

/// Cells of one operation, size and cache mode. They are compared with each other, so they are measured interleaved.
struct Point {
    std::vector<CellPlan> cells;
    ArrivalPattern arrival;
    std::optional<int> rounds;  // of bursts; if not set, as many as the plan's precision requires
};

/// An artificial error of one rank's clock. Tests use it to show that completion times don't depend on it.
struct ClockSkew {
    int rank = 0;
    std::int64_t offset_ns = 0;
    double drift_ppm = 0;
};

using Text = std::string;
using OptionalInt = std::optional<int>;
using OptionalReal = std::optional<double>;

/// What one launch of the measuring program measures. Python writes it; it is read once and never changed.
struct Plan {
    using enum Method;
    using enum Start;
    static constexpr std::nullopt_t nullopt = std::nullopt;
#define PLAN_KEY(name, Type, initial, meaning) Type name = initial;
#include "measure/files/plan_keys.def"
    std::vector<ClockSkew> skews;
    std::vector<int> node_of_rank;   // if the plan gives it; if empty, MPI finds the nodes
    std::vector<int> group_of_rank;  // same length
    std::vector<Point> points;
};

/// Reads the plan's text: a line `timpani-plan 1`, then one `key value…` per line; `#` starts a comment. The cells
/// between a line `point` and the next form one point; `point R` is a point of R rounds. A cell before any such line is
/// a separate point. A line `arrival` after `point` gives its pattern: `arrival one_late 50000 ns`,
/// `arrival sorted 2 calls` or `arrival random …`. Throws std::runtime_error that names the line.
Plan parse_plan(const std::string& text);

}  // namespace timpani
