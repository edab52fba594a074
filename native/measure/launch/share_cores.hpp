#pragma once

#include <csignal>

namespace timpani {

/// While one exists, this process offers its core to others 5,000 times a second. Libraries such as MPICH spin while
/// they wait, each rank for a whole time slice: 8 ranks on 2 cores take nine times as long for an allreduce of MPICH
/// 4.0.2 without it. It interrupts calls, so nothing is timed meanwhile.
class ScopedCoreSharing {
  public:
    ScopedCoreSharing();
    ~ScopedCoreSharing();
    ScopedCoreSharing(const ScopedCoreSharing&) = delete;
    ScopedCoreSharing& operator=(const ScopedCoreSharing&) = delete;

  private:
    struct sigaction before_{};
};

}  // namespace timpani
