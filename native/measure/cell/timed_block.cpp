#include "measure/cell/timed_block.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>

#include "measure/clock/harness_messages.hpp"
#include "measure/observe/control.hpp"

namespace timpani {

namespace {

/// The first call was checked and gave no error, so a cell can't report an error in a later call.
void throw_on_error(int errors) {
    if (errors != MPI_SUCCESS) throw std::runtime_error("a timed call failed after the first one had succeeded");
}

/// Idle ranks sleep until the first timed rank wakes them.
void wait_while_idle(const Harness& harness, const Operation& operation) {
    if (operation.role(harness.rank) == Role::idle) {
        sleep_until_woken(harness.comm, std::chrono::microseconds(500));
        return;
    }
    for (int rank = 0; rank < harness.rank; ++rank) {
        if (operation.role(rank) == Role::timed) return;
    }
    if (operation.role(harness.rank) != Role::timed) return;
    for (int rank = 0; rank < harness.size; ++rank) {
        if (operation.role(rank) == Role::idle) wake(harness.comm, rank);
    }
}

Block run_synchronized(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions,
                       const Synchronization& sync, int settling) {
    const LocalClock& clock = harness.clock.local();
    const ClockLine line = harness.clock.line();
    std::vector<RankTiming> own(static_cast<std::size_t>(repetitions));
    int errors = MPI_SUCCESS;
    const bool together = sync.lateness == nullptr || !sync.lateness->injected();
    const std::int64_t first = together ? 0 : sync.lateness->count(repetitions);
    std::optional<ScopedControls> scope(operation.controls());
    for (auto& timing : own) {
        const auto late = together ? 0 : sync.lateness->of(harness.rank, first + (&timing - own.data()));
        buffers.between_calls();
        std::byte* send = buffers.send();
        std::byte* receive = buffers.receive();
        std::int64_t start = 0;
        if (sync.slack_ns > 0) {
            const auto announced = line.to_global(clock.now()) + sync.slack_ns;
            const auto common = broadcast_number(harness.comm, harness.rank, harness.size, announced);
            const auto deadline = line.to_local(common + late);
            start = clock.now();
            timing.late = start > deadline ? 1 : 0;
            if (start < deadline) start = clock.wait_until(deadline);
        } else {
            dissemination_barrier(harness.comm, harness.rank, harness.size);
            timing.late = 0;
            start = clock.now();
            if (late > 0) start = clock.wait_until(start + late);
        }
        errors |= operation(send, receive);
        timing.end = clock.now();
        timing.start = start;
    }
    scope.reset();  // the harness's collectives follow
    throw_on_error(errors);
    return collect(harness, operation, own, settling, together ? Arrivals{} : Arrivals{sync.lateness, first});
}

Block run_back_to_back(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions, int batch,
                       int settling) {
    const LocalClock& clock = harness.clock.local();
    std::vector<RankTiming> own(static_cast<std::size_t>(repetitions));
    int errors = MPI_SUCCESS;
    std::optional<ScopedControls> scope(operation.controls());
    std::byte* const send = buffers.send();
    std::byte* const receive = buffers.receive();
    for (auto& timing : own) {
        timing.start = clock.now();
        for (int call = 0; call < batch; ++call) errors |= operation(send, receive);
        timing.end = clock.now();
        timing.late = 0;
    }
    scope.reset();  // the harness's messages follow
    throw_on_error(errors);
    wait_while_idle(harness, operation);
    return collect(harness, operation, own, settling);
}

}  // namespace

Block run_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions,
                const Synchronization& sync, int settling) {
    return sync.batch > 0 ? run_back_to_back(harness, operation, buffers, repetitions, sync.batch, settling)
                          : run_synchronized(harness, operation, buffers, repetitions, sync, settling);
}

Block run_osu_block(const Harness& harness, Operation& operation, Buffers& buffers, int repetitions) {
    const LocalClock& clock = harness.clock.local();
    std::vector<RankTiming> own(static_cast<std::size_t>(repetitions));
    int errors = MPI_SUCCESS;
    std::optional<ScopedControls> scope(operation.controls());
    for (auto& timing : own) {
        timing.start = clock.now();
        errors |= operation(buffers.send(), buffers.receive());
        timing.end = clock.now();
        timing.late = 0;
        buffers.between_calls();
        MPI_Barrier(operation.comm());
    }
    scope.reset();  // the harness's collectives follow
    throw_on_error(errors);
    return collect(harness, operation, own);
}

}  // namespace timpani
