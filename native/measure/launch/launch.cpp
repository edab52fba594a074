#include "measure/launch/launch.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "execute/discover_topology.hpp"
#include "execute/exchange_values.hpp"
#include "json/json.hpp"
#include "measure/cell/buffers.hpp"
#include "measure/cell/cell_calls.hpp"
#include "measure/cell/samples.hpp"
#include "measure/cell/timed_block.hpp"
#include "measure/clock/harness_messages.hpp"
#include "measure/launch/make_operation.hpp"
#include "measure/launch/read_order.hpp"
#include "measure/observe/describe_places.hpp"
#include "measure/observe/loaded_library.hpp"
#include "operations/operation.hpp"

namespace timpani {

namespace {

constexpr std::int64_t kMaxElements = 1024;  // of all ranks

/// The `count` elements at `from` of every rank, at rank 0.
std::vector<std::int64_t> gather_elements(const Harness& harness, const Datatype& datatype, const std::byte* from,
                                          std::int64_t count) {
    std::int64_t total = 0;
    MPI_Allreduce(&count, &total, 1, MPI_INT64_T, MPI_SUM, harness.comm);
    if (total > kMaxElements) throw NotApplicable(std::to_string(total) + " elements are too many to show");
    std::vector<std::uint64_t> own(static_cast<std::size_t>(count));
    datatype.read(from, own);
    return gather_values(std::vector<std::int64_t>(own.begin(), own.end()), harness.comm);
}

/// Collective. At rank 0 `{"sent":[…],"received":[…],"sent_row":…,"received_row":…}`: the elements in all ranks'
/// buffers, rank after rank, and how many of them are in a row. Throws NotApplicable if there are more than 1,024.
std::string buffer_contents(const Harness& harness, const Operation& operation, Buffers& buffers) {
    const auto& datatype = operation.datatype();
    const auto sent = gather_elements(harness, datatype, buffers.send(), operation.send_elements());
    const auto received = gather_elements(harness, datatype, buffers.receive(), operation.receive_elements());
    const auto rows = operation.row_lengths();
    return JsonObject()
        .add("sent", sent)
        .add("received", received)
        .add("sent_row", rows.sent)
        .add("received_row", rows.received)
        .text();
}

/// Counting messages needs no common clock, which takes seconds to synchronize among many nodes.
bool is_timed(Method method) { return method == Method::timpani || method == Method::osu; }

/// Time of the harness's broadcast until the last rank has it, median of several, in nanoseconds. Collective.
std::int64_t broadcast_cost_ns(const Harness& harness) {
    constexpr int kRepetitions = kSimulated ? 1 : 51;
    std::vector<std::int64_t> costs;
    for (int i = 0; i < kRepetitions; ++i) {
        dissemination_barrier(harness.comm, harness.rank, harness.size);
        const auto sent = broadcast_number(harness.comm, harness.rank, harness.size, harness.clock.now());
        costs.push_back(harness.clock.now() - sent);
    }
    std::int64_t cost = median_of(costs);
    MPI_Allreduce(MPI_IN_PLACE, &cost, 1, MPI_INT64_T, MPI_MAX, harness.comm);
    return std::max<std::int64_t>(cost, 100);
}

/// The reason's name in the record.
std::string_view name_of(StopReason reason) {
    constexpr std::array<std::string_view, 6> names{"none", "precision", "rounds", "repetitions", "slot", "lost"};
    return names[static_cast<std::size_t>(reason)];  // in the order of StopReason
}

/// Where the ranks of `comm` are, from the plan if it says so, else from MPI.
Topology topology_of(const Plan& plan, MPI_Comm comm) {
    if (plan.node_of_rank.empty()) return discover_topology(comm, "");
    return {plan.node_of_rank, plan.group_of_rank};
}

Protocol protocol_of(const Plan& plan, const Harness& harness) {
    if (is_timed(plan.method)) harness.clock.synchronize();
    return {plan, plan.start == Start::round_time ? broadcast_cost_ns(harness) : 0,
            reading_cost_ns(harness.clock.local())};
}

}  // namespace

Launch::Launch(const Plan& plan, const Harness& harness, const Record* record)
    : plan_(plan),
      harness_(harness),
      record_(record),
      topology_(topology_of(plan, harness.comm)),
      protocol_(protocol_of(plan, harness)),
      communicators_(harness.comm),
      shuffler_(plan.seed) {
    if (plan.method == Method::count_messages) sent_ = std::make_unique<SentSoFar>(MPI_COMM_WORLD);
    if (plan.probe) probe_ = std::make_unique<Probe>(harness.comm, topology_);
}

void Launch::begin() {
    const LoadedLibrary library = loaded_library();
    if (!kSimulated) check_library(library, harness_.comm);
    const auto places = describe_places(harness_.comm);
    const auto error = harness_.clock.error_ns();
    const auto floor = is_timed(plan_.method) ? null_ns() : 0;
    write(JsonObject()
              .add("world", harness_.size)
              .add("library", library.version)
              .add("library_file", library.file)
              .add_json("ranks", places)
              .add("clocks", harness_.clock.clocks())
              .add("clock_error_ns", error)
              .add("timer_ns", protocol_.timer_ns)
              .add("broadcast_ns", protocol_.broadcast_ns)
              .add("null_ns", floor)
              .text());
    const auto placed = plan_.node_of_rank.size();
    if (placed != 0 && placed != static_cast<std::size_t>(harness_.size)) {  // reported after the record has the size
        throw std::runtime_error("the plan places " + std::to_string(placed) + " ranks of " +
                                 std::to_string(harness_.size));
    }
}

/// Median completion of an empty call, measured like any other: the overhead of measuring.
std::int64_t Launch::null_ns() {
    constexpr int kRepetitions = kSimulated ? 1 : 101;
    const auto null = make_operation("null", 0, "", find_datatype("uint8"), harness_.comm, {}, {topology_});
    buffers_.prepare(*null, CacheMode::warm);
    const auto slack = plan_.start == Start::barrier ? 0 : 4 * protocol_.broadcast_ns;
    const Block block = run_block(harness_, *null, buffers_, kRepetitions, {.slack_ns = slack});
    return median_of(block.times(&Repetition::completion));
}

InjectedLateness Launch::lateness_of(const Point& point) {
    const ArrivalPattern& arrival = point.arrival;
    if (arrival.kind == ArrivalKind::together || !is_timed(plan_.method)) return {};
    const double unit = arrival.in_calls ? static_cast<double>(library_call_ns(point.cells.front())) : 1.0;
    return {arrival, std::llround(arrival.delay * unit), harness_.size, plan_.seed};
}

std::int64_t Launch::library_call_ns(const CellPlan& cell) {
    constexpr int kCalls = 51;
    CellPlan plain;
    plain.mode = cell.mode;
    auto operation =
        make_operation(cell.operation, cell.message_bytes, "", find_datatype(plan_.datatype, plan_.reduction),
                       communicators_.get({}), {}, call_options());
    buffers_.prepare(*operation, cell.mode);
    InjectedLateness together;
    Competitor call = make_competitor(harness_, plain, std::move(operation), buffers_, protocol_, together);
    const int calls = call.warmup.repetitions_within(plan_.slot_ns / 2, kCalls);
    const Block block = run_block(harness_, *call.operation, buffers_, calls, call.sync);
    return broadcast_from_root(harness_, median_of(block.times(&Repetition::completion)));
}

std::optional<Competitor> Launch::begin_cell(const CellPlan& cell, InjectedLateness& lateness) {
    under_way(cell.id);
    write(JsonObject().add("begin", cell.id).text());
    JsonObject line;
    line.add("cell", cell.id);
    try {
        auto operation = make_operation(cell.operation, cell.message_bytes, cell.algorithm,
                                        find_datatype(plan_.datatype, plan_.reduction),
                                        communicators_.get(cell.at_creation), cell.at_call, call_options());
        buffers_.prepare(*operation, cell.mode);
        if (plan_.by_rules) rules_not_followed(harness_, cell.operation);  // discards what earlier cells reported
        if (plan_.method == Method::call) {
            const ScopedControls scope(operation->controls());
            for (int left = plan_.twice == cell.id ? 2 : 1; left > 0; --left) {
                (*operation)(buffers_.send(), buffers_.receive());
            }
        } else if (const auto mistake = check_result(harness_, *operation, buffers_)) {
            line.add("mistake", *mistake);
        } else if (sent_) {
            line.add_json("proof", count_messages(harness_, *sent_, *operation, buffers_));
        } else if (plan_.method == Method::record_buffers) {  // of the call that was checked
            line.add_json("buffers", buffer_contents(harness_, *operation, buffers_));
        } else if (plan_.method == Method::read_order) {
            line.add_json("order", read_order(harness_, *operation, buffers_, [&] { under_way(cell.id); }));
        } else if (plan_.method == Method::osu) {
            add_outcome(line, cell.operation, measure_as_osu(harness_, *operation, buffers_, protocol_, cell));
        } else {
            return make_competitor(harness_, cell, std::move(operation), buffers_, protocol_, lateness);
        }
    } catch (const NotApplicable& reason) {
        line.add("mistake", reason.what());
    }
    write(line.text());
    PMPI_Barrier(
        harness_.comm);  // before a rank may crash in the next cell, and end this one before its line is written
    return std::nullopt;
}

void Launch::measure(const Point& point) {
    if (is_timed(plan_.method)) harness_.clock.keep_synchronized();
    std::vector<Competitor> interleaved;
    InjectedLateness lateness = lateness_of(point);
    auto begin = harness_.clock.now();
    for (const auto& cell : point.cells) {
        auto competitor = begin_cell(cell, lateness);
        if (!competitor) continue;
        if (fits_next_to(*competitor->operation, interleaved, point.cells.size())) {
            interleaved.push_back(std::move(*competitor));
        } else {
            measure_interleaved({&*competitor, 1}, point, begin);  // freed before the next cell allocates memory
            begin = harness_.clock.now();
        }
    }
    if (!interleaved.empty()) {
        buffers_.prepare(*interleaved.front().operation,
                         point.cells.front().mode);  // a cell in between may have used others
        measure_interleaved(interleaved, point, begin);
    }
    under_way(-1);
}

void Launch::measure_interleaved(std::span<Competitor> competitors, const Point& point, std::int64_t begin) {
    const auto turns_begin = harness_.clock.now();
    const auto before = probe();
    const auto end = interleave(harness_, competitors, buffers_, protocol_, point.rounds, shuffler_,
                                [this](int cell) { under_way(cell); });
    const auto after = probe();
    const auto ended = harness_.clock.now();
    for (const auto& competitor : competitors) {
        const auto messages = competitor.operation->messages_per_call() * std::max(1, competitor.sync.batch);
        const auto times = competitor.samples.valid.times(&Repetition::completion);
        const bool as_many_as_asked = plan_.repetitions || end == StopReason::rounds;
        const bool converged = as_many_as_asked || relative_half_width(times) <= plan_.precision;
        const Circumstances circumstances{competitor.warmup.repetitions,
                                          competitor.start(),
                                          name_of(competitor.lost ? StopReason::lost : end),
                                          converged,
                                          messages,
                                          competitor.sync.lateness};
        JsonObject line;
        line.add("cell", competitor.id)
            .add("competitors", static_cast<int>(competitors.size()))
            .add("relative", competitor.relative)
            .add("relative_error", competitor.relative_error)
            .add("setup_ns", turns_begin - begin)
            .add("begin_ns", turns_begin)
            .add("end_ns", ended)
            .add("probe_before_ns", before)
            .add("probe_after_ns", after);
        add_outcome(line, point.cells.front().operation, describe(competitor.samples, circumstances));
        write(line.text());
    }
}

void Launch::add_outcome(JsonObject& line, const std::string& operation, const std::string& measured) {
    const auto why = plan_.by_rules ? rules_not_followed(harness_, operation) : std::nullopt;
    why ? line.add("mistake", *why) : line.add_json("measured", measured);
}

bool Launch::fits_next_to(const Operation& operation, std::span<const Competitor> others,
                          std::size_t competitors) const {
    constexpr std::int64_t kMaxBytes =
        256 << 20;  // per rank; the scratch of each competitor counts as one more pair of buffers
    const auto elements = operation.send_elements() + operation.receive_elements();
    const auto bytes = static_cast<std::int64_t>(operation.datatype().bytes) * elements;
    int fits = bytes * static_cast<std::int64_t>(competitors) <= kMaxBytes ? 1 : 0;
    if (!others.empty()) {
        const auto& first = *others.front().operation;
        const bool equal = operation.send_elements() == first.send_elements() &&
                           operation.receive_elements() == first.receive_elements();
        if (!equal) fits = 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, harness_.comm);
    return fits != 0;
}

std::vector<std::int64_t> Launch::probe() const {
    return probe_ ? probe_->one_way_ns(harness_.clock.local()) : std::vector<std::int64_t>{};
}

bool Launch::too_late_to_begin() const {
    if (!plan_.begin_within_ms) return false;
    const bool late = std::chrono::steady_clock::now() - started_ > std::chrono::milliseconds(*plan_.begin_within_ms);
    return broadcast_from_root(harness_, late);
}

void Launch::end() {
    const auto error = harness_.clock.error_ns();
    const auto machines = activity_.describe(harness_.comm);
    write(JsonObject().add("end", true).add("clock_error_ns", error).add_json("machines", machines).text());
}

}  // namespace timpani
