#pragma once

#include <string_view>

#include "interpose/replace/replace.hpp"

namespace timpani {

/// How a collective is called. Of all but blocking ones, the time is that of the call that starts or prepares it.
enum class Form : std::uint8_t { blocking, non_blocking, persistent };

/// A call of a collective that operations.def does not have.
struct OtherCall {
    std::string_view name;
    MPI_Comm comm;
};

/// The clock of one call, where calls are counted.
class CallTimer {
  public:
    CallTimer(const InterceptedCall& call, const Communicator& communicator, Form form = Form::blocking);
    CallTimer(const OtherCall& call, const Communicator& communicator, Form form);
    /// Enters the call into the profile, its time without that of setting up.
    void end(const Outcome& outcome) const;

  private:
    CallTimer(std::string_view name, const InterceptedCall* call, const Communicator& communicator, Form form);

    std::string_view name_;
    const InterceptedCall* call_;  // nullptr: of no size that is known
    Form form_;
    RankInComm here_;  // copied: the program's error handler may free the communicator
    bool spans_two_groups_;
    double start_ = 0;
};

}  // namespace timpani
