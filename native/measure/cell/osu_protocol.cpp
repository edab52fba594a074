#include "measure/cell/osu_protocol.hpp"

#include "measure/cell/samples.hpp"

namespace timpani {

std::string measure_as_osu(const Harness& harness, Operation& operation, Buffers& buffers, const Protocol& protocol,
                           const CellPlan& cell) {
    constexpr int kLargeBytes = 8192;  // above it OSU's benchmarks run fewer iterations
    const OsuLoop& loop = operation.osu_loop();
    const bool large = cell.message_bytes > kLargeBytes;
    const int warmup = protocol.plan.warmup.value_or(large ? loop.large_warmup : loop.warmup);
    const int repetitions = protocol.plan.repetitions.value_or(large ? loop.large_repetitions : loop.repetitions);
    const auto run = [&](int calls) {
        MPI_Barrier(operation.comm());
        if (loop.timed_as_one) return run_block(harness, operation, buffers, 1, {.batch = calls});
        return run_osu_block(harness, operation, buffers, calls);
    };
    if (warmup > 0) run(warmup);
    Samples samples;
    samples.take(run(repetitions));
    const auto messages = operation.messages_per_call() * (loop.timed_as_one ? repetitions : 1);
    return describe(samples, {warmup, "mpi_barrier", "repetitions", true, messages});
}

}  // namespace timpani
