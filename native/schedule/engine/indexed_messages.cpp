#include "schedule/engine/indexed_messages.hpp"

#include <algorithm>
#include <iterator>

namespace timpani {

void RegionIndex::add(const Step& step, std::int64_t number, std::vector<std::int64_t>& found) {
    const std::int64_t message = step.is_message() ? number : -1;
    if (step.kind != Step::Kind::receive) touch(step.from, false, message, found);
    if (step.kind != Step::Kind::send) touch(step.to, true, message, found);
}

/// The first interval that begins at `first` or behind it.
RegionIndex::At RegionIndex::lower_bound(Intervals& intervals, std::int64_t first, bool write) {
    auto& by_first = intervals.by_first;
    if (by_first.empty() || by_first.rbegin()->first < first) return by_first.end();
    const At next = intervals.next[write ? 1 : 0];
    const bool continues =
        next != At{} && next->first >= first && (next == by_first.begin() || std::prev(next)->first < first);
    return continues ? next : by_first.lower_bound(first);
}

/// `number` −1: a local step. It ends what it overwrites, and leaves nothing to find.
void RegionIndex::touch(const Region& region, bool write, std::int64_t number, std::vector<std::int64_t>& found) {
    if (region.count == 0) return;
    auto& intervals = buffers_.at(static_cast<std::size_t>(region.buffer));
    auto& by_first = intervals.by_first;
    /// Splits the interval at `holder`, and returns the second part.
    const auto split = [&](At holder, std::int64_t middle) {
        const At after = by_first.emplace_hint(std::next(holder), middle, holder->second);
        holder->second.end = middle;
        return after;
    };
    const auto reaches_in = [&](At at) { return at != by_first.end() && at->first < region.end(); };
    At at = lower_bound(intervals, region.first, write);
    if (at != by_first.begin()) {  // an earlier interval may reach into the region
        if (const At before = std::prev(at); before->second.end > region.first) at = split(before, region.first);
    }
    if (write) {
        At& next_read = intervals.next[0];
        if (next_read != At{} && next_read->first >= region.first && next_read->first < region.end()) next_read = {};
        while (reaches_in(at)) {
            if (at->second.end > region.end()) split(at, region.end());
            if (at->second.writer >= 0) found.push_back(at->second.writer);
            found.insert(found.end(), at->second.readers.begin(), at->second.readers.end());
            at = by_first.erase(at);
        }
        // One interval for a region that is written at once. The next step that touches it finds one interval, however
        // finely it was split.
        if (number >= 0) by_first.emplace_hint(at, region.first, Interval{region.end(), number});
    } else {
        for (std::int64_t next = region.first; next < region.end(); ++at) {
            const auto end = reaches_in(at) ? at->first : region.end();
            if (next < end) {  // no message has touched the gap
                if (number < 0 && !reaches_in(at)) break;
                if (number >= 0) at = by_first.emplace_hint(at, next, Interval{end});
            } else if (at->second.end > region.end()) {
                split(at, region.end());
            }
            if (at->second.writer >= 0) found.push_back(at->second.writer);
            if (number >= 0) at->second.readers.push_back(number);
            next = at->second.end;
        }
    }
    intervals.next[write ? 1 : 0] = at == by_first.end() ? At{} : at;
}

}  // namespace timpani
