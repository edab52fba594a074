#include "schedule/engine/region_index.hpp"

#include <algorithm>
#include <iterator>

namespace timpani {

void RegionIndex::add(const Step& step, std::int64_t number, std::vector<std::int64_t>& found) {
    if (step.kind != Step::Kind::receive) touch(step.from, false, number, found);
    if (step.kind != Step::Kind::send) touch(step.to, true, number, found);
}

/// Splits the interval at `holder` at `at`, and returns the second part.
RegionIndex::Intervals::iterator RegionIndex::split(Intervals& intervals, Intervals::iterator holder, std::int64_t at) {
    const auto after = intervals.emplace_hint(std::next(holder), at, holder->second);
    holder->second.end = at;
    return after;
}

void RegionIndex::touch(const Region& region, bool write, std::int64_t number, std::vector<std::int64_t>& found) {
    if (region.count == 0) return;
    auto& intervals = buffers_.at(static_cast<std::size_t>(region.buffer));
    auto at = intervals.lower_bound(region.first);
    if (at != intervals.begin()) {  // an earlier interval may reach into the region
        if (const auto before = std::prev(at); before->second.end > region.first) {
            at = split(intervals, before, region.first);
        }
    }
    auto first = intervals.end();
    for (std::int64_t next = region.first; next < region.end(); ++at) {
        if (at == intervals.end() || at->first > next) {  // no step has touched the gap
            const auto end = at == intervals.end() ? region.end() : std::min(region.end(), at->first);
            at = intervals.emplace_hint(at, next, Interval{end, -1, {}});
        } else if (at->second.end > region.end()) {
            split(intervals, at, region.end());
        }
        if (next == region.first) first = at;
        Interval& interval = at->second;
        if (interval.writer >= 0) found.push_back(interval.writer);
        if (write) {
            found.insert(found.end(), interval.readers.begin(), interval.readers.end());
        } else {
            interval.readers.push_back(number);
        }
        next = interval.end;
    }
    if (!write) return;
    // One interval for a region that is written at once. The next step that touches it finds one interval, however
    // finely it was split.
    intervals.erase(std::next(first), at);
    first->second.end = region.end();
    first->second.writer = number;
    first->second.readers.clear();
}

}  // namespace timpani
