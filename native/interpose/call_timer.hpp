#pragma once

#include "interpose/replace.hpp"

namespace timpani {

/// The clock of one call, where calls are counted.
class CallTimer {
  public:
    CallTimer(const InterceptedCall& call, const Communicator& communicator);
    /// Enters the call into the profile, its time without that of setting up.
    void end(const Outcome& outcome) const;

  private:
    const InterceptedCall& call_;
    RankInComm here_;  // copied: the program's error handler may free the communicator
    bool spans_two_groups_;
    double start_ = 0;
};

}  // namespace timpani
