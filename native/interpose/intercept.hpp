#pragma once

#include "interpose/call_timer.hpp"
#include "interpose/known.hpp"
#include "interpose/process.hpp"
#include "interpose/replace.hpp"

namespace timpani {

/// A call of the program: replaced where a rule says so, else handed on to the library by `own`.
template <typename Own>
inline int intercept(const Call& call, const Own& own) {
    if (!on_duty()) return own();
    Communicator* const communicator = known_communicator(call.comm);
    if (communicator == nullptr) return own();
    const bool may_replace = communicator->may_replace(call.kind);
    if (!may_replace && !counting) return own();
    const CallTimer timer(call, *communicator);
    const Outcome outcome = may_replace ? replace(call, *communicator) : Outcome{};
    const int error = outcome.done ? outcome.error : own();
    timer.end(outcome);
    return error;
}

}  // namespace timpani
