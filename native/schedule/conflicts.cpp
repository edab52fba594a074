#include "schedule/conflicts.hpp"

#include <algorithm>
#include <iterator>

namespace timpani {

std::vector<std::int64_t> Conflicts::add(const Step& step, std::int64_t number) {
    std::vector<std::int64_t> found;
    if (step.kind == Step::Kind::receive && step.to.count == 0) awaited_.push_back(number);
    if (step.kind == Step::Kind::send && step.from.count == 0) found.swap(awaited_);
    if (step.kind != Step::Kind::receive) touch(step.from, false, number, found);
    if (step.kind != Step::Kind::send) touch(step.to, true, number, found);
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    std::erase(found, number);  // a reduction reads what it writes
    return found;
}

/// Makes `at` a boundary between intervals.
void Conflicts::split(Intervals& intervals, std::int64_t at) {
    auto after = intervals.upper_bound(at);
    if (after == intervals.begin()) return;
    auto& [first, interval] = *std::prev(after);
    if (first == at || interval.end <= at) return;
    intervals.emplace_hint(after, at, interval);
    interval.end = at;
}

void Conflicts::touch(const Region& region, bool write, std::int64_t number, std::vector<std::int64_t>& found) {
    if (region.count == 0) return;
    auto& intervals = buffers_.at(static_cast<std::size_t>(region.buffer));
    split(intervals, region.first);
    split(intervals, region.end());
    auto at = intervals.lower_bound(region.first);
    for (std::int64_t next = region.first; next < region.end(); ++at) {
        if (at == intervals.end() || at->first > next) {  // nobody has touched what comes next
            const auto end = at == intervals.end() ? region.end() : std::min(region.end(), at->first);
            at = intervals.emplace_hint(at, next, Interval{end, -1, {}});
        }
        Interval& interval = at->second;
        if (interval.writer >= 0) found.push_back(interval.writer);
        if (write) {
            found.insert(found.end(), interval.readers.begin(), interval.readers.end());
            interval.readers.clear();
            interval.writer = number;
        } else {
            interval.readers.push_back(number);
        }
        next = interval.end;
    }
}

}  // namespace timpani
