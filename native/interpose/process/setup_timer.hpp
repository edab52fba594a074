#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/process/process.hpp"

namespace timpani {

/// Counts the time of its lifetime as setup of `what`, and excludes it from the call that it is part of. Reads no clock
/// if calls are not counted.
class SetupTimer {
  public:
    explicit SetupTimer(std::string_view what) : what_(what) {
        if (counting) start_ = Process::get().clock.now();
    }
    ~SetupTimer() {
        if (!counting) return;
        Process& process = Process::get();
        const std::int64_t ns = process.clock.now() - start_;
        process.calls.add({.key = {.name = what_, .form = Form::setup}, .entry_ns = start_, .ns = ns});
        total_ns += ns;
    }
    SetupTimer(const SetupTimer&) = delete;
    SetupTimer& operator=(const SetupTimer&) = delete;

    /// Nanoseconds that this thread has spent in setup.
    inline static thread_local std::int64_t total_ns = 0;

  private:
    std::string_view what_;
    std::int64_t start_ = 0;
};

}  // namespace timpani
