#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "interpose/communicator/communicator.hpp"

namespace timpani {

/// Incremented when a communicator is freed. Cached handles are then invalid, since MPI may reuse them.
inline constinit std::atomic<std::uint64_t> generation = 1;

inline void invalidate_cached_communicators() { generation.fetch_add(1); }

/// The communicator that a thread called last. Most programs use few, and reading the attribute takes longer than
/// everything else here.
struct CachedCommunicator {
    MPI_Comm comm;
    std::uint64_t generation;  // 0: nothing is cached
    Communicator* state;
};

// Compiled for the initial-exec model: thread-local data of a preloaded library is in the static block, so reading it
// calls no function.
inline thread_local constinit CachedCommunicator cached{};

/// The state of `comm`, as Communicator::of gives it. Always inlined: calling it takes 13 more instructions.
[[gnu::always_inline]] inline Communicator* cached_communicator(MPI_Comm comm) {
    const auto now = generation.load(std::memory_order_acquire);
    if (cached.generation == now && cached.comm == comm) return cached.state;
    Communicator* const state = Communicator::of(comm);
    if (state != nullptr) cached = {comm, now, state};  // an invalid handle may become a valid one
    return state;
}

}  // namespace timpani
