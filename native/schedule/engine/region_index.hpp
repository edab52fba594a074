#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "schedule/step.hpp"

namespace timpani {

/// Which steps of a rank have last written, and since read, each interval of each buffer, so that a step finds those it
/// shares data with at the cost of the logarithm of how many intervals there are.
class RegionIndex {
  public:
    /// Notes `step` as `number`, and adds to `found` the numbers of the earlier ones that write what it reads or
    /// writes, or read what it writes; some of them more than once.
    void add(const Step& step, std::int64_t number, std::vector<std::int64_t>& found);

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
};

}  // namespace timpani
