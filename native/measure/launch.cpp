#include "measure/launch.hpp"

#include <mpi.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "execute/discover_topology.hpp"
#include "json/json.hpp"
#include "measure/check_result.hpp"
#include "measure/describe_places.hpp"
#include "measure/measure_cell.hpp"
#include "measure/rules_report.hpp"
#include "measure/stop_rule.hpp"
#include "operations/make_operation.hpp"

namespace timpani {

namespace {

/// Counting messages asks for no common clock, which takes seconds to find among many nodes.
bool is_timed(Method method) { return method == Method::timpani || method == Method::osu; }

/// The first line of what the library calls itself.
std::string library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string whole(text.data(), static_cast<std::size_t>(length));
    return whole.substr(0, whole.find_first_of(std::string_view("\n\0", 2)));
}

/// Where the ranks of `comm` are, as the plan says or else MPI.
Topology topology_of(const Plan& plan, MPI_Comm comm) {
    if (plan.node_of_rank.empty()) return discover_topology(comm, "");
    return {plan.node_of_rank, plan.group_of_rank};
}

Protocol protocol_of(const Plan& plan, const Harness& harness) {
    if (is_timed(plan.method)) harness.clock.synchronise();
    return {plan.method,
            plan.start,
            plan.precision,
            plan.time_limit_ns,
            plan.start == Start::round_time ? broadcast_cost_ns(harness) : 0,
            reading_cost_ns(harness.clock.local()),
            plan.warmup,
            plan.repetitions};
}

}  // namespace

Launch::Launch(const Plan& plan, const Harness& harness, const Record* record)
    : plan_(plan),
      harness_(harness),
      record_(record),
      topology_(topology_of(plan, harness.comm)),
      protocol_(protocol_of(plan, harness)),
      communicators_(harness.comm) {
    if (plan.method == Method::count_messages) counter_ = std::make_unique<MessageCounter>(MPI_COMM_WORLD);
}

void Launch::begin() {
    const auto places = describe_places(harness_.comm, harness_.rank, harness_.size);
    const auto error = harness_.clock.error_ns();
    const auto floor = null_ns();
    write(JsonObject()
              .add("world", harness_.size)
              .add("library", library_version())
              .add_json("ranks", places)
              .add("clocks", harness_.clock.clocks())
              .add("clock_error_ns", error)
              .add("timer_ns", protocol_.timer_ns)
              .add("broadcast_ns", protocol_.broadcast_ns)
              .add("null_ns", floor)
              .text());
    const auto placed = plan_.node_of_rank.size();
    if (placed != 0 && placed != static_cast<std::size_t>(harness_.size)) {  // said once the record has the size
        throw std::runtime_error("the plan places " + std::to_string(placed) + " ranks of " +
                                 std::to_string(harness_.size));
    }
}

/// Median completion of an empty call, measured like any other: what measuring itself costs.
std::int64_t Launch::null_ns() {
    constexpr int kRepetitions = kSimulated ? 1 : 101;
    const auto null = make_operation("null", 0, "", find_datatype("uint8"), harness_.comm, {}, {topology_});
    buffers_.prepare(*null, CacheMode::warm);
    const auto slack = protocol_.start == Start::barrier ? 0 : 4 * protocol_.broadcast_ns;
    std::vector<std::int64_t> completions;
    for (const auto& repetition : run_block(harness_, *null, buffers_, kRepetitions, {.slack_ns = slack}).repetitions) {
        completions.push_back(repetition.completion);
    }
    return median_of(completions);
}

void Launch::measure(const CellPlan& cell) {
    write(JsonObject().add("begin", cell.id).text());
    if (is_timed(plan_.method)) harness_.clock.keep_synchronised();
    JsonObject line;
    line.add("cell", cell.id);
    try {
        const auto operation =
            make_operation(cell.operation, cell.message_bytes, cell.algorithm, find_datatype(plan_.datatype),
                           communicators_.get(cell.at_creation), cell.at_call, {topology_, plan_.include_setup});
        buffers_.prepare(*operation, cell.mode);
        if (plan_.by_rules) rules_not_followed(harness_, cell.operation);  // earlier cells have told it
        if (plan_.method == Method::call) {
            const ScopedControls scope(operation->controls());
            for (int i = 0; i < plan_.repetitions.value_or(1); ++i) (*operation)(buffers_.send(), buffers_.receive());
        } else if (const auto mistake = check_result(harness_, *operation, buffers_)) {
            line.add("mistake", *mistake);
        } else if (counter_) {
            line.add_json("proof", counter_->count(*operation, buffers_));
        } else {
            const auto measured = measure_cell(harness_, *operation, buffers_, protocol_, cell);
            const auto why = plan_.by_rules ? rules_not_followed(harness_, cell.operation) : std::nullopt;
            why ? line.add("mistake", *why) : line.add_json("measured", measured);
        }
    } catch (const NotApplicable& reason) {
        line.add("mistake", reason.what());
    }
    write(line.text());
}

void Launch::end() {
    const auto error = harness_.clock.error_ns();
    const auto machines = activity_.describe(harness_.comm, harness_.rank, harness_.size);
    write(JsonObject().add("end", true).add("clock_error_ns", error).add_json("machines", machines).text());
}

}  // namespace timpani
