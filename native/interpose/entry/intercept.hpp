#pragma once

#include "interpose/communicator/communicator_cache.hpp"
#include "interpose/entry/call_timer.hpp"
#include "interpose/entry/finish.hpp"
#include "interpose/entry/refusal.hpp"
#include "interpose/process/process.hpp"
#include "interpose/replace/replace.hpp"

namespace timpani {

/// Counts the call that `timer` has timed.
template <typename Timer, typename... Facts>
inline void end_counted(const Timer& timer, const Facts&... facts) {
    if (timer.end(facts...) > next_checkpoint_ns.load(std::memory_order_relaxed)) write_checkpoint();
}

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
    if (counting) end_counted(timer, outcome);
    return error;
}

/// A call that is never replaced: counted where calls are, and passed on.
template <typename Call, typename CallLibrary>
inline int count(const Call& call, Form form, const CallLibrary& call_library) {
    if (!intercepting() || !counting) return call_library();
    Communicator* const communicator = cached_communicator(call.comm);
    if (communicator == nullptr) return call_library();
    const CallTimer timer(call, *communicator, form);
    const int error = call_library();
    end_counted(timer, Outcome{});
    return error;
}

/// Messages, or their completion, likewise. `bytes` is asked for after the call.
template <typename Bytes, typename CallLibrary>
inline int count_messages(const char* name, Form form, const Bytes& bytes, const CallLibrary& call_library) {
    if (!intercepting() || !counting) return call_library();
    const MessageTimer timer;
    const int error = call_library();
    end_counted(timer, name, form, bytes());
    return error;
}

}  // namespace timpani
