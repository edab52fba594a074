#include "measure/timed_block.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include "measure/control.hpp"
#include "measure/harness_messages.hpp"

namespace timpani {

namespace {

/// One repetition as one rank saw it, on its own clock.
struct Observation {
    std::int64_t start;
    std::int64_t end;
    std::int64_t late;
};

/// The first call was checked and gave no error, so that one in a later call is nothing a cell could report.
void refuse_errors(int errors) {
    if (errors != MPI_SUCCESS) throw std::runtime_error("a timed call failed after the first one had succeeded");
}

Repetition combine(const std::vector<Observation>& all, std::size_t repetition, std::size_t per_rank) {
    std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_start = std::numeric_limits<std::int64_t>::min();
    std::int64_t last_end = last_start;
    std::int64_t longest = 0;
    std::int64_t sum = 0;
    bool valid = true;
    for (std::size_t i = repetition; i < all.size(); i += per_rank) {
        first_start = std::min(first_start, all[i].start);
        last_start = std::max(last_start, all[i].start);
        last_end = std::max(last_end, all[i].end);
        longest = std::max(longest, all[i].end - all[i].start);
        sum += all[i].end - all[i].start;
        valid = valid && all[i].late == 0;
    }
    const auto ranks = static_cast<std::int64_t>(all.size() / per_rank);
    return {last_end - first_start,         longest, sum / ranks, last_start - first_start,
            last_end - all[repetition].end, valid};
}

/// Brings the ranks' observations to rank 0, on the common clock.
Block collect(const Harness& harness, std::vector<Observation>& own) {
    const ClockLine line = harness.clock.line();
    for (auto& observation : own) {
        observation.start = line.to_global(observation.start);
        observation.end = line.to_global(observation.end);
    }
    const int bytes = static_cast<int>(own.size() * sizeof(Observation));
    const auto ranks = harness.rank == 0 ? static_cast<std::size_t>(harness.size) : 0;
    std::vector<Observation> all(own.size() * ranks);
    MPI_Gather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, harness.comm);
    Block block;
    block.rank_sums_ns.resize(ranks);
    for (std::size_t i = 0; i < own.size() && ranks > 0; ++i) {
        const Repetition repetition = combine(all, i, own.size());
        for (std::size_t rank = 0; repetition.valid && rank < ranks; ++rank) {
            const Observation& observation = all[rank * own.size() + i];
            block.rank_sums_ns[rank] += observation.end - observation.start;
        }
        block.repetitions.push_back(repetition);
    }
    return block;
}

}  // namespace

Block run_block(const Harness& harness, const Operation& operation, Buffers& buffers, int repetitions,
                std::int64_t slack_ns) {
    const LocalClock& clock = harness.clock.local();
    const ClockLine line = harness.clock.line();
    std::vector<Observation> own(static_cast<std::size_t>(repetitions));
    int errors = MPI_SUCCESS;
    std::optional<ScopedControls> scope(operation.controls());
    for (auto& observation : own) {
        buffers.between_calls();
        std::byte* send = buffers.send();
        std::byte* receive = buffers.receive();
        std::int64_t start = 0;
        if (slack_ns > 0) {
            const auto announced = line.to_global(clock.now()) + slack_ns;
            const auto deadline = line.to_local(broadcast_number(harness.comm, harness.rank, harness.size, announced));
            start = clock.now();
            observation.late = start > deadline ? 1 : 0;
            if (start < deadline) start = clock.wait_until(deadline);
        } else {
            dissemination_barrier(harness.comm, harness.rank, harness.size);
            observation.late = 0;
            start = clock.now();
        }
        errors |= operation(send, receive);
        observation.end = clock.now();
        observation.start = start;
    }
    scope.reset();  // the harness's own collectives come next
    refuse_errors(errors);
    return collect(harness, own);
}

Block run_osu_block(const Harness& harness, const Operation& operation, Buffers& buffers, int repetitions) {
    const LocalClock& clock = harness.clock.local();
    std::vector<Observation> own(static_cast<std::size_t>(repetitions));
    int errors = MPI_SUCCESS;
    std::optional<ScopedControls> scope(operation.controls());
    for (auto& observation : own) {
        observation.start = clock.now();
        errors |= operation(buffers.send(), buffers.receive());
        observation.end = clock.now();
        observation.late = 0;
        buffers.between_calls();
        MPI_Barrier(operation.comm());
    }
    scope.reset();  // the harness's own collectives come next
    refuse_errors(errors);
    return collect(harness, own);
}

}  // namespace timpani
