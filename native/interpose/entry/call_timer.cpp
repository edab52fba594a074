#include "interpose/entry/call_timer.hpp"

#include "interpose/process/process.hpp"
#include "interpose/process/setup_timer.hpp"
#include "interpose/replace/block_sizes.hpp"

namespace timpani {

namespace {

/// Arguments that can't be right have no size.
std::int64_t bytes_of(const InterceptedCall& call, RankInComm here) {
    if (!may_be_valid(call, here)) return 0;
    const bool known = collective_of(call.kind).counts != BlockCounts::exchanged;
    return known ? known_block_sizes(call, here).message_bytes : message_bytes(call, here);
}

std::string name_of(std::string_view name, Form form) {
    const std::string text(name);
    return form == Form::non_blocking ? "i" + text : form == Form::persistent ? text + "_init" : text;
}

}  // namespace

CallTimer::CallTimer(std::string_view name, const InterceptedCall* call, const Communicator& communicator, Form form)
    : name_(name),
      call_(call),
      form_(form),
      here_(communicator.here()),
      spans_two_groups_(communicator.spans_two_groups()),
      start_(counting ? PMPI_Wtime() - SetupTimer::total : 0) {}

CallTimer::CallTimer(const InterceptedCall& call, const Communicator& communicator, Form form)
    : CallTimer(collective_of(call.kind).name, &call, communicator, form) {}

CallTimer::CallTimer(const OtherCall& call, const Communicator& communicator, Form form)
    : CallTimer(call.name, nullptr, communicator, form) {}

void CallTimer::end(const Outcome& outcome) const {
    if (!counting) return;
    const double seconds = PMPI_Wtime() - SetupTimer::total - start_;
    const bool agreed = outcome.bytes >= 0;
    const bool sized = call_ != nullptr && !spans_two_groups_;  // between two groups ranks play different parts
    const bool known = agreed || (sized && collective_of(call_->kind).counts != BlockCounts::exchanged);
    const std::int64_t bytes = agreed ? outcome.bytes : sized ? bytes_of(*call_, here_) : 0;
    Process::get().profile.add({.collective = name_of(name_, form_),
                                .ranks = here_.ranks,
                                .between_groups = spans_two_groups_,
                                .size_class = known ? size_class_of(bytes) : -1,
                                .algorithm = outcome.done ? std::string(outcome.algorithm) : "default",
                                .reason = std::string(outcome.reason)},
                               bytes, seconds);
}

}  // namespace timpani
