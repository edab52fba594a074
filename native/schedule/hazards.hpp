#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "schedule/step.hpp"

namespace timpani {

/// The data hazards among the steps of one rank, taken in order: a step depends on the earlier ones that write what it
/// reads or writes (read after write, write after write) and on those that read what it writes (write after read). What
/// other ranks do in the window is ordered by notifications: a step that touches the window depends on all that were
/// awaited before, and a notification on those and on the messages to and from the window. Kept per interval of each
/// buffer, so that a step costs the logarithm of their number.
class HazardTracker {
  public:
    /// The numbers of the earlier steps that `step` depends on, each once, ascending; and notes it as step `number`.
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
    std::vector<std::int64_t> awaited_;    // notifications, since a step last depended on those before it
    std::vector<std::int64_t> in_window_;  // messages since the last notification, which depends on those before it
};

}  // namespace timpani
