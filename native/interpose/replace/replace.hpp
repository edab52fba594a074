#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/communicator/communicator.hpp"

namespace timpani {

/// The result of a call that a rule might replace.
struct Outcome {
    bool done = false;                   // else the library must be called,
    MPI_Comm comm = MPI_COMM_NULL;       // on this communicator if it is one,
    const Controls* controls = nullptr;  // under these control variables if there are any.
    int error = MPI_SUCCESS;             // If it is done.
    std::int64_t bytes = -1;             // As in rules; -1: unknown, or not the same on all ranks.
    std::string_view algorithm{};        // The one that ran, as its rule names it
    std::string_view reason{};  // why a rule that matches was not followed; empty if it was, or if no rule matches
};

/// Runs the call by the first rule that matches it, or leaves it to the library. All ranks do the same, since they
/// compare only arguments that MPI requires to be equal on all of them. The program's handler has already handled
/// errors.
Outcome replace(const InterceptedCall& call, Communicator& communicator);

}  // namespace timpani
