#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "schedule/step.hpp"

namespace timpani {

/// Which steps of a rank last wrote, and have since read, each interval of each buffer. A step finds the steps with
/// which it shares data in logarithmic time in the number of intervals.
class RegionIndex {
  public:
    /// Records `step` as `number`. Adds to `found` the numbers of earlier steps that write what it reads or writes, or
    /// read what it writes, some of them more than once.
    void add(const Step& step, std::int64_t number, std::vector<std::int64_t>& found);

  private:
    struct Interval {
        std::int64_t end;
        std::int64_t writer;                // the last step that wrote it; −1: no step
        std::vector<std::int64_t> readers;  // the steps that have read it since
    };
    using Intervals = std::map<std::int64_t, Interval>;  // by first element, disjoint

    static Intervals::iterator split(Intervals& intervals, Intervals::iterator holder, std::int64_t at);
    void touch(const Region& region, bool write, std::int64_t number, std::vector<std::int64_t>& found);

    std::array<Intervals, kBuffers> buffers_;
};

}  // namespace timpani
