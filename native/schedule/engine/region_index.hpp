#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "schedule/step.hpp"

namespace timpani {

/// Which messages of a rank last wrote, and have since read, each interval of each buffer. A step finds the messages
/// with which it shares data in logarithmic time in the number of intervals; in constant time where it continues the
/// region of the step before. Local steps end before the next step starts, so no step has to find them.
class RegionIndex {
  public:
    /// Records `step` as `number`. Adds to `found` the numbers of earlier messages that write what it reads or writes,
    /// or read what it writes, some of them more than once.
    void add(const Step& step, std::int64_t number, std::vector<std::int64_t>& found);

  private:
    struct Interval {
        std::int64_t end;
        std::int64_t writer = -1;                // the message that wrote it last; −1: none
        std::vector<std::int64_t> readers = {};  // the messages that have read it since
    };
    using At = std::map<std::int64_t, Interval>::iterator;
    struct Intervals {
        std::map<std::int64_t, Interval> by_first;  // disjoint
        /// The first one behind the region read last, and the one behind that written last, if any is.
        std::array<At, 2> next{};
    };

    static At lower_bound(Intervals& intervals, std::int64_t first, bool write);
    void touch(const Region& region, bool write, std::int64_t number, std::vector<std::int64_t>& found);

    std::array<Intervals, kBuffers> buffers_;
};

}  // namespace timpani
