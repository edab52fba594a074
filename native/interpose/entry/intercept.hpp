#pragma once

#include "interpose/communicator/communicator_cache.hpp"
#include "interpose/entry/call_timer.hpp"
#include "interpose/entry/refusal.hpp"
#include "interpose/process/process.hpp"
#include "interpose/replace/replace.hpp"

namespace timpani {

/// A call of the program: replaced where a rule says so, else passed on to the library by `call_library`.
template <typename CallLibrary>
inline int intercept(const InterceptedCall& call, const CallLibrary& call_library) {
    if (!intercepting()) return call_library();
    Communicator* const communicator = cached_communicator(call.comm);
    if (communicator == nullptr) return call_library();
    const bool may_replace = communicator->may_replace(call.kind);
    if (!may_replace && !counting) return call_library();
    const CallTimer timer(call, *communicator);
    const Outcome outcome = may_replace ? replace(call, *communicator) : Outcome{};
    if (!outcome.reason.empty()) refusals[static_cast<std::size_t>(call.kind)] = outcome.reason;
    const int error = outcome.done ? outcome.error : call_library();
    timer.end(outcome);
    return error;
}

/// A call that is never replaced: counted where calls are, and passed on.
template <typename Call, typename CallLibrary>
inline int count(const Call& call, Form form, const CallLibrary& call_library) {
    if (!intercepting() || !counting) return call_library();
    const Communicator* const communicator = cached_communicator(call.comm);
    if (communicator == nullptr) return call_library();
    const CallTimer timer(call, *communicator, form);
    const int error = call_library();
    timer.end({});
    return error;
}

}  // namespace timpani
