#include "measure/timed_block.hpp"

#include <time.h>

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

Repetition combine(const std::vector<Observation>& all, std::size_t repetition, std::size_t per_rank,
                   const Operation& operation) {
    std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_start = std::numeric_limits<std::int64_t>::min();
    std::int64_t last_end = last_start;
    std::int64_t longest = 0;
    std::int64_t sum = 0;
    std::int64_t timed = 0;
    bool valid = true;
    for (int rank = 0; rank < operation.ranks(); ++rank) {
        const Observation& own = all[static_cast<std::size_t>(rank) * per_rank + repetition];
        const Role role = operation.role(rank);
        valid = valid && (own.late == 0 || role == Role::idle);
        if (role != Role::timed) continue;
        first_start = std::min(first_start, own.start);
        last_start = std::max(last_start, own.start);
        last_end = std::max(last_end, own.end);
        longest = std::max(longest, own.end - own.start);
        sum += own.end - own.start;
        ++timed;
    }
    return {last_end - first_start,         longest, sum / timed, last_start - first_start,
            last_end - all[repetition].end, valid};
}

/// Brings the ranks' observations to rank 0, on the common clock.
Block collect(const Harness& harness, const Operation& operation, std::vector<Observation>& own) {
    const ClockLine line = harness.clock.line();
    for (auto& observation : own) {
        observation.start = line.to_global(observation.start);
        observation.end = line.to_global(observation.end);
    }
    const int bytes = static_cast<int>(own.size() * sizeof(Observation));
    std::vector<Observation> all(harness.rank == 0 ? own.size() * static_cast<std::size_t>(harness.size) : 0);
    MPI_Gather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, harness.comm);
    Block block;
    if (harness.rank != 0) return block;
    for (std::size_t i = 0; i < own.size(); ++i) block.repetitions.push_back(combine(all, i, own.size(), operation));
    for (int rank = 0; rank < harness.size; ++rank) {
        if (operation.role(rank) != Role::timed) continue;
        auto& sum = block.rank_sums_ns.emplace_back(0);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const Observation& observation = all[static_cast<std::size_t>(rank) * own.size() + i];
            if (block.repetitions[i].valid) sum += observation.end - observation.start;
        }
    }
    return block;
}

/// Idle ranks sleep until the first timed rank tells them that it is done: waiting in MPI would keep a core busy.
void wait_quietly(const Harness& harness, const Operation& operation) {
    constexpr int kDoneTag = 5;
    constexpr timespec kNap{0, 500'000};
    const MPI_Comm comm = harness.comm;
    if (operation.role(harness.rank) == Role::idle) {
        for (int done = 0; done == 0;) {
            MPI_Iprobe(MPI_ANY_SOURCE, kDoneTag, comm, &done, MPI_STATUS_IGNORE);
            if (done == 0) nanosleep(&kNap, nullptr);
        }
        MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, kDoneTag, comm, MPI_STATUS_IGNORE);
        return;
    }
    for (int rank = 0; rank < harness.rank; ++rank) {
        if (operation.role(rank) == Role::timed) return;
    }
    if (operation.role(harness.rank) != Role::timed) return;
    for (int rank = 0; rank < harness.size; ++rank) {
        if (operation.role(rank) == Role::idle) MPI_Send(nullptr, 0, MPI_BYTE, rank, kDoneTag, comm);
    }
}

Block run_started_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions,
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
            while (start < deadline) start = clock.now();
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
    return collect(harness, operation, own);
}

Block run_paced_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions, int batch) {
    const LocalClock& clock = harness.clock.local();
    std::vector<Observation> own(static_cast<std::size_t>(repetitions));
    int errors = MPI_SUCCESS;
    std::optional<ScopedControls> scope(operation.controls());
    std::byte* const send = buffers.send();
    std::byte* const receive = buffers.receive();
    for (auto& observation : own) {
        observation.start = clock.now();
        for (int call = 0; call < batch; ++call) errors |= operation(send, receive);
        observation.end = clock.now();
        observation.late = 0;
    }
    scope.reset();  // the harness's own messages come next
    refuse_errors(errors);
    wait_quietly(harness, operation);
    return collect(harness, operation, own);
}

}  // namespace

Block run_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions, const Pace& pace) {
    return pace.batch > 0 ? run_paced_block(harness, operation, buffers, repetitions, pace.batch)
                          : run_started_block(harness, operation, buffers, repetitions, pace.slack_ns);
}

Block run_osu_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions) {
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
    return collect(harness, operation, own);
}

}  // namespace timpani
