#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "interpose/communicator.hpp"

namespace timpani {

/// Grows with every communicator that goes: what was known of a handle holds no longer, since MPI may give it away
/// anew.
inline constinit std::atomic<std::uint64_t> generation = 1;

inline void forget_known() { generation.fetch_add(1); }

/// The communicator that a thread called last: most programs use few, and asking MPI for its attribute takes longer
/// than all else here.
struct Known {
    MPI_Comm comm;
    std::uint64_t generation;  // 0: nothing is known
    Communicator* state;
};

// Compiled for the initial-exec model: a preloaded library has its room among the first threads' data, so that reading
// it calls nothing.
inline thread_local constinit Known last_called{};

/// The state of `comm`, as Communicator::of gives it.
inline Communicator* known_communicator(MPI_Comm comm) {
    const auto now = generation.load(std::memory_order_acquire);
    if (last_called.generation == now && last_called.comm == comm) return last_called.state;
    Communicator* const state = Communicator::of(comm);
    if (state != nullptr) last_called = {comm, now, state};  // a handle that is none may become one
    return state;
}

}  // namespace timpani
