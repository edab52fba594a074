#pragma once

#include "interpose/communicator/communicator.hpp"
#include "interpose/entry/call_timer.hpp"
#include "interpose/entry/finish.hpp"
#include "interpose/entry/refusal.hpp"
#include "interpose/process/process.hpp"
#include "interpose/profile/call_site.hpp"
#include "interpose/replace/replace.hpp"
#include "measure/observe/control.hpp"

namespace timpani {

/// Counts the call that `timer` has timed.
template <typename Timer, typename... Facts>
inline void end_counted(const Timer& timer, const Facts&... facts) {
    if (timer.end(facts...) > next_checkpoint_ns.load(std::memory_order_relaxed)) write_checkpoint();
}

/// Calls the library as a rule chose: on another communicator, under control variables. The program's handler handles
/// errors.
template <typename CallLibrary>
int call_chosen(const InterceptedCall& call, const Outcome& outcome, const CallLibrary& call_library) {
    const ScopedControls controls(*outcome.controls);  // could be set when the communicator was made
    const int error = call_library(outcome.comm);
    if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.comm, error);
    return error;
}

/// A call of the program. It is replaced if a rule matches, else passed to the library by `call_library`, which takes
/// the communicator.
template <typename CallLibrary>
inline int intercept(InterceptedCall call, const CallLibrary& call_library) {
    call.site = take_call_site();
    if (!intercepting()) return call_library(call.comm);
    Communicator* const communicator = cached_communicator(call.comm);
    if (communicator == nullptr) return call_library(call.comm);
    const bool may_replace = communicator->may_replace(call.kind);
    if (!may_replace && !counting) return call_library(call.comm);
    const CallTimer timer(call, *communicator);
    const Outcome outcome = may_replace ? replace(call, *communicator) : Outcome{};
    if (!outcome.reason.empty()) refusals[static_cast<std::size_t>(call.kind)] = outcome.reason;
    const int error = outcome.done                    ? outcome.error
                      : outcome.comm != MPI_COMM_NULL ? call_chosen(call, outcome, call_library)
                                                      : call_library(call.comm);
    if (counting) end_counted(timer, outcome);
    return error;
}

/// A call that is never replaced. It is counted if calls are counted, and passed to the library.
template <typename Call, typename CallLibrary>
inline int count(Call call, Form form, const CallLibrary& call_library) {
    call.site = take_call_site();
    if (!intercepting() || !counting) return call_library();
    Communicator* const communicator = cached_communicator(call.comm);
    if (communicator == nullptr) return call_library();
    const CallTimer timer(call, *communicator, form);
    const int error = call_library();
    end_counted(timer, Outcome{});
    return error;
}

/// The same for messages and their completion. `bytes` is evaluated after the call.
template <typename Bytes, typename CallLibrary>
inline int count_messages(const char* name, Form form, const Bytes& bytes, const CallLibrary& call_library) {
    if (!intercepting() || !counting) return call_library();
    const MessageTimer timer;
    const int error = call_library();
    end_counted(timer, name, form, bytes(), 1U);
    return error;
}

constexpr std::uint32_t kPollsTimed = 1024;  // of each function and thread; a multiple of the next
constexpr std::uint32_t kPollsPerTime = 32;  // of later calls one in this many is timed and stands for all

/// A call that tests for completion. Programs make millions of them, so only some of the later calls are timed and
/// counted, each for several.
template <typename CallLibrary>
inline int count_polls(const char* name, const CallLibrary& call_library) {
    if (!intercepting() || !counting) return call_library();
    static thread_local std::uint32_t polls = 0;
    const bool each = polls < kPollsTimed;
    if (each || ++polls % kPollsPerTime == 0) {
        polls += each ? 1 : 0;
        const MessageTimer timer;
        const int error = call_library();
        end_counted(timer, name, Form::completion, std::int64_t{0}, each ? 1 : kPollsPerTime);
        return error;
    }
    return call_library();
}

}  // namespace timpani
