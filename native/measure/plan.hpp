#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace timpani {

/// How cells are measured: our way; OSU's; not timed but counted; or merely called, for a library that counts by
/// itself.
enum class Method { timpani, osu, count_messages, call };
enum class Start { round_time, barrier };
enum class CacheMode { warm, rotate, flush };

/// MPI_T control variables and the whole numbers they are set to.
using Controls = std::vector<std::pair<std::string, int>>;

/// One cell of a launch. Some libraries read their control variables when a communicator is created, others at each
/// call.
struct CellPlan {
    int id = 0;
    std::string collective;
    std::int64_t message_bytes = 0;
    CacheMode mode = CacheMode::warm;
    Controls at_creation;
    Controls at_call;
    std::string algorithm;  // of ours, with its parameters: `knomial:radix=4`; empty for the library's own call
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
    std::int64_t slot_ns = 0;        // longest time for one cell
    std::optional<int> warmup;       // fixed numbers: in OSU's protocol instead of its defaults, in ours instead of
    std::optional<int> repetitions;  // the stop rule's, and of the calls that `call` makes
    std::vector<ClockSkew> skews;
    std::vector<CellPlan> cells;
};

/// Reads the plan's text: a line `timpani-plan 1`, then one `key value…` a line; `#` begins a comment.
/// Throws std::runtime_error that names the line.
Plan parse_plan(const std::string& text);

}  // namespace timpani
