#pragma once

#include <mpi.h>

#include <string>
#include <utility>

#include "interpose/process/process.hpp"

namespace timpani {

/// Enters what happens while it lives into the profile as setting up `what`, and tells a running call's clock how much
/// of its time that was. Looks at no clock where nothing is counted.
class SetupTimer {
  public:
    SetupTimer(std::string what, int ranks) : what_(std::move(what)), ranks_(ranks) {
        if (counting) start_ = PMPI_Wtime();
    }
    ~SetupTimer() {
        if (!counting) return;
        const double seconds = PMPI_Wtime() - start_;
        Process::get().profile.add(
            {.collective = "setup", .ranks = ranks_, .size_class = -1, .algorithm = what_, .reason = ""}, 0, seconds);
        total += seconds;
    }
    SetupTimer(const SetupTimer&) = delete;
    SetupTimer& operator=(const SetupTimer&) = delete;

    /// Seconds that this thread has spent so, in all.
    inline static thread_local double total = 0;

  private:
    std::string what_;
    int ranks_;
    double start_ = 0;
};

}  // namespace timpani
