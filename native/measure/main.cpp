// timpani-measure PLAN RECORD: measures the cells of one launch.
//
// Rank 0 reads the plan and appends one JSON line to the record for the launch, one before each cell (so that whoever
// watches knows which cell a death or a hang belongs to) and one after it. Nothing else is written there.

#include <mpi.h>
#include <sys/prctl.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "execute/discover_topology.hpp"
#include "json/json.hpp"
#include "measure/check_result.hpp"
#include "measure/control.hpp"
#include "measure/count_messages.hpp"
#include "measure/describe_places.hpp"
#include "measure/machine_activity.hpp"
#include "measure/measure_cell.hpp"
#include "measure/plan.hpp"
#include "measure/record.hpp"
#include "measure/stop_rule.hpp"
#include "measure/tool_interface.hpp"
#include "operations/make_operation.hpp"

namespace {

using namespace timpani;

std::string read_plan_everywhere(const char* path, int rank) {
    std::string text;
    if (rank == 0) {
        std::ifstream file(path);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    auto length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

/// Median completion of an empty call, measured like any other: what measuring itself costs.
std::int64_t null_ns(const Harness& harness, Buffers& buffers, const Protocol& protocol, const Topology& topology) {
    constexpr int kRepetitions = kSimulated ? 1 : 101;
    const auto null = make_operation("null", 0, "", find_datatype("uint8"), harness.comm, {}, {topology});
    buffers.prepare(*null, CacheMode::warm);
    const auto slack = protocol.start == Start::barrier ? 0 : 4 * protocol.broadcast_ns;
    std::vector<std::int64_t> completions;
    for (const auto& repetition : run_block(harness, *null, buffers, kRepetitions, {.slack_ns = slack}).repetitions) {
        completions.push_back(repetition.completion);
    }
    return median_of(completions);
}

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
Topology topology_of(const Plan& plan, MPI_Comm comm, int size) {
    if (plan.node_of_rank.empty()) return discover_topology(comm, "");
    if (plan.node_of_rank.size() != static_cast<std::size_t>(size)) {
        throw std::runtime_error("the plan places " + std::to_string(plan.node_of_rank.size()) + " ranks of " +
                                 std::to_string(size));
    }
    return {plan.node_of_rank, plan.group_of_rank};
}

void run_cell(const CellPlan& cell, const Harness& harness, const Plan& plan, const Protocol& protocol,
              const Topology& topology, ControlledCommunicators& communicators, Buffers& buffers,
              MessageCounter* counter, const Record* record) {
    if (record != nullptr) record->line(JsonObject().add("begin", cell.id).text());
    if (is_timed(plan.method)) harness.clock.keep_synchronised();
    JsonObject line;
    line.add("cell", cell.id);
    try {
        const auto operation =
            make_operation(cell.operation, cell.message_bytes, cell.what, find_datatype(plan.datatype),
                           communicators.get(cell.at_creation), cell.at_call, {topology, plan.include_setup});
        buffers.prepare(*operation, cell.mode);
        if (plan.method == Method::call) {
            const ScopedControls scope(operation->controls());
            for (int i = 0; i < plan.repetitions.value_or(1); ++i) (*operation)(buffers.send(), buffers.receive());
        } else if (const auto mistake = check_result(harness, *operation, buffers)) {
            line.add("mistake", *mistake);
        } else if (counter != nullptr) {
            line.add_json("proof", counter->count(*operation, buffers));
        } else {
            line.add_json("measured", measure_cell(harness, *operation, buffers, protocol, cell));
        }
    } catch (const NotApplicable& reason) {
        line.add("mistake", reason.what());
    }
    if (record != nullptr) record->line(line.text());
}

void run(const char* plan_path, const char* record_path) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const std::unique_ptr<Record> record = rank == 0 ? std::make_unique<Record>(record_path) : nullptr;
    const Plan plan = parse_plan(read_plan_everywhere(plan_path, rank));
    const MachineActivity activity;

    ClockSkew skew;
    for (const auto& candidate : plan.skews) {
        if (candidate.rank == rank) skew = candidate;
    }
    const LocalClock local(skew);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    {
        GlobalClock clock(comm, local);
        if (is_timed(plan.method)) clock.synchronise();
        const Harness harness{comm, rank, size, clock};
        Protocol protocol{plan.method, plan.start,      plan.precision, plan.slot_ns, 0, reading_cost_ns(local),
                          plan.warmup, plan.repetitions};
        if (plan.start == Start::round_time) protocol.broadcast_ns = broadcast_cost_ns(harness);
        Buffers buffers;
        const auto places = describe_places(comm, rank, size);
        const auto error = clock.error_ns();
        const Topology topology = topology_of(plan, comm, size);
        const auto floor = null_ns(harness, buffers, protocol, topology);
        if (record) {
            record->line(JsonObject()
                             .add("world", size)
                             .add("library", library_version())
                             .add_json("ranks", places)
                             .add("clocks", clock.clocks())
                             .add("clock_error_ns", error)
                             .add("timer_ns", protocol.timer_ns)
                             .add("broadcast_ns", protocol.broadcast_ns)
                             .add("null_ns", floor)
                             .text());
        }
        ControlledCommunicators communicators(comm);
        const auto counter =
            plan.method == Method::count_messages ? std::make_unique<MessageCounter>(MPI_COMM_WORLD) : nullptr;
        for (const auto& cell : plan.cells) {
            run_cell(cell, harness, plan, protocol, topology, communicators, buffers, counter.get(), record.get());
        }
        const auto final_error = clock.error_ns();
        const auto machines = activity.describe(comm, rank, size);
        if (record) {
            record->line(
                JsonObject().add("end", true).add("clock_error_ns", final_error).add_json("machines", machines).text());
        }
    }
    MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
    // When the starter is killed its ranks must not spin on and spoil what is measured next.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        std::fputs("usage: timpani-measure PLAN RECORD\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    try {
        const ToolInterface tools;
        run(argv[1], argv[2]);
    } catch (const std::exception& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        std::fprintf(stderr, "timpani-measure: rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
