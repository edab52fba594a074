#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "schedule/step.hpp"

namespace timpani {

/// Finds, for each step of a rank in turn, the earlier steps that it must wait for: those that write what it touches,
/// and those that read what it writes. What others do in the window, notifications order: a step that touches it waits
/// for all that were awaited before, and a notification for those and for the messages to and from the window. Kept per
/// interval of each buffer, so that a step costs the logarithm of their number.
class Conflicts {
  public:
    /// The numbers of the earlier steps that `step` conflicts with, each once, ascending; and notes it as step
    /// `number`.
    std::vector<std::int64_t> add(const Step& step, std::int64_t number);

  private:
    struct Interval {
        std::int64_t end;
        std::int64_t writer;                // the last step that wrote it, −1 for none
        std::vector<std::int64_t> readers;  // the steps that have read it since
    };
    using Intervals = std::map<std::int64_t, Interval>;  // by first element, disjoint

    static Intervals::iterator split(Intervals& intervals, Intervals::iterator holder, std::int64_t at);
    void touch(const Region& region, bool write, std::int64_t number, std::vector<std::int64_t>& found);

    std::array<Intervals, kBuffers> buffers_;
    std::vector<std::int64_t> awaited_;    // since a step last waited for those before it
    std::vector<std::int64_t> in_window_;  // messages since the last notification, which waited for those before it
};

}  // namespace timpani
