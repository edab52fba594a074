#include "schedule/hazards.hpp"

#include <algorithm>
#include <iterator>

namespace timpani {

std::vector<std::int64_t> HazardTracker::add(const Step& step, std::int64_t number) {
    std::vector<std::int64_t> found;
    if (step.awaits()) awaited_.push_back(number);
    if (step.notifies() || step.touches_window()) found.swap(awaited_);
    if (step.notifies()) {
        found.insert(found.end(), in_window_.begin(), in_window_.end());
        in_window_.clear();
    } else if (step.is_message() && step.touches_window()) {
        in_window_.push_back(number);
    }
    if (step.kind != Step::Kind::receive) touch(step.from, false, number, found);
    if (step.kind != Step::Kind::send) touch(step.to, true, number, found);
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    std::erase(found, number);  // a reduction reads what it writes
    return found;
}

/// Ends the interval at `holder` at `at` and returns the one that goes on from there.
HazardTracker::Intervals::iterator HazardTracker::split(Intervals& intervals, Intervals::iterator holder,
                                                        std::int64_t at) {
    const auto after = intervals.emplace_hint(std::next(holder), at, holder->second);
    holder->second.end = at;
    return after;
}

void HazardTracker::touch(const Region& region, bool write, std::int64_t number, std::vector<std::int64_t>& found) {
    if (region.count == 0) return;
    auto& intervals = buffers_.at(static_cast<std::size_t>(region.buffer));
    auto at = intervals.lower_bound(region.first);
    if (at != intervals.begin()) {  // one that began before may reach into the region
        if (const auto before = std::prev(at); before->second.end > region.first) {
            at = split(intervals, before, region.first);
        }
    }
    auto first = intervals.end();
    for (std::int64_t next = region.first; next < region.end(); ++at) {
        if (at == intervals.end() || at->first > next) {  // nobody has touched what comes next
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
    // One interval for what is written at once, so that the next to touch it finds one, however finely it was cut.
    intervals.erase(std::next(first), at);
    first->second.end = region.end();
    first->second.writer = number;
    first->second.readers.clear();
}

}  // namespace timpani
