#include "interpose/call_timer.hpp"

#include "interpose/process.hpp"
#include "interpose/setup_timer.hpp"

namespace timpani {

namespace {

/// Between two groups the ranks play different parts, and arguments that can't be right have no size.
std::int64_t bytes_of(const InterceptedCall& call, RankInComm here, bool spans_two_groups) {
    return spans_two_groups || !may_be_valid(call, here) ? 0 : message_bytes(call, here);
}

}  // namespace

CallTimer::CallTimer(const InterceptedCall& call, const Communicator& communicator)
    : call_(call),
      here_(communicator.here()),
      spans_two_groups_(communicator.spans_two_groups()),
      start_(counting ? PMPI_Wtime() - SetupTimer::total : 0) {}

void CallTimer::end(const Outcome& outcome) const {
    if (!counting) return;
    const double seconds = PMPI_Wtime() - SetupTimer::total - start_;
    const bool agreed = outcome.bytes >= 0;
    const std::int64_t bytes = agreed ? outcome.bytes : bytes_of(call_, here_, spans_two_groups_);
    const Collective& collective = collective_of(call_.kind);
    const int size_class = !agreed && collective.counts != BlockCounts::equal ? -1 : size_class_of(bytes);
    Process::get().profile.add({std::string(collective.name), here_.ranks, size_class,
                                outcome.done ? std::string(outcome.algorithm) : "default", std::string(outcome.reason)},
                               bytes, seconds);
}

}  // namespace timpani
