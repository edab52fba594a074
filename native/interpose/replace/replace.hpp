#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/communicator/communicator.hpp"

namespace timpani {

/// What became of a call that a rule might replace.
struct Outcome {
    bool done = false;             // else the library's own algorithm is to be called
    int error = MPI_SUCCESS;       // where it is done
    std::int64_t bytes = -1;       // as rules count them; -1: not known alike on all ranks
    std::string_view algorithm{};  // the one that ran, as its rule names it
    std::string_view reason{};     // why a rule that matches was not followed; empty: there is none
};

/// Runs the call by the first rule that matches it, or leaves it. All ranks do the same, since they compare only what
/// MPI makes equal on all of them. Errors have been through the program's handler.
Outcome replace(const InterceptedCall& call, Communicator& communicator);

}  // namespace timpani
