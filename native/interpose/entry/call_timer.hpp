#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/profile/sent_messages.hpp"
#include "interpose/replace/replace.hpp"

namespace timpani {

/// A call of a collective that is not in operations.def.
struct OtherCall {
    std::string_view name;
    MPI_Comm comm;
    const void* site = nullptr;  // as `call_site`
};

/// The clock of one call of a collective, if calls are counted.
class CallTimer {
  public:
    CallTimer(const InterceptedCall& call, Communicator& communicator, Form form = Form::blocking);
    CallTimer(const OtherCall& call, Communicator& communicator, Form form);
    /// Counts the call, with its time without setup. Returns when it ended.
    [[nodiscard]] std::int64_t end(const Outcome& outcome) const;

  private:
    /// The call with the messages that this rank sent in it.
    [[nodiscard]] ProvenCall proven_call(const SentMessages& sent, std::int64_t bytes) const;
    CallTimer(std::string_view name, const void* site, const InterceptedCall* call, Communicator& communicator,
              Form form);

    std::string_view name_;
    const void* site_;
    const InterceptedCall* call_;  // nullptr: size unknown
    Form form_;
    RankInComm here_{};  // copied: the program's error handler may free the communicator
    bool spans_two_groups_ = false;
    std::uint32_t shape_ = 0;
    std::int64_t entry_ns_ = 0;
    std::int64_t setup_before_ns_ = 0;
};

/// The clock of a call that sends or receives messages, or completes requests.
class MessageTimer {
  public:
    MessageTimer();
    /// `calls`: the number of equal calls that this one stands for.
    [[nodiscard]] std::int64_t end(std::string_view name, Form form, std::int64_t bytes, std::uint32_t calls) const;

  private:
    std::int64_t entry_ns_;
};

}  // namespace timpani
