#include "verify/window_order.hpp"

#include <algorithm>

namespace timpani {

WindowOrder::WindowOrder(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {
    for (Known& each : ranks_) each.clock.resize(static_cast<std::size_t>(ranks));
}

void WindowOrder::begin(int rank, const Step& step, std::span<const std::int64_t> waited) {
    Known& own = at(rank);
    const auto number = static_cast<std::int64_t>(own.end_of.size());
    const std::int64_t now = ++own.clock[static_cast<std::size_t>(rank)];
    for (const auto earlier : waited) end(own, rank, own.before + earlier);
    own.end_of.push_back(step.is_message() ? kUnderWay : now);
    if (step.notifies()) own.told.emplace(number, own.clock);
}

void WindowOrder::end(Known& known, int rank, std::int64_t step) {
    std::int64_t& end = known.end_of[static_cast<std::size_t>(step)];
    if (end != kUnderWay) return;
    end = known.clock[static_cast<std::size_t>(rank)];
    const auto told = known.told.find(step);
    if (told == known.told.end()) return;
    for (std::size_t i = 0; i < known.clock.size(); ++i) known.clock[i] = std::max(known.clock[i], told->second[i]);
    known.told.erase(told);
}

void WindowOrder::deliver(int sender, std::int64_t send, int receiver, std::int64_t receive) {
    Known& from = at(sender);
    const auto told = from.told.find(from.before + send);
    if (told != from.told.end()) at(receiver).told[at(receiver).before + receive] = told->second;
}

std::optional<int> WindowOrder::touch(int rank, int node, const Region& region, bool write) {
    const Access access{rank, static_cast<std::int64_t>(at(rank).end_of.size()) - 1};
    for (std::int64_t place = region.first; place < region.end(); ++place) {
        auto& [written, read] = elements_[{node, place}];
        if (written && !behind(rank, *written)) return written->rank;
        if (!write) {
            read.push_back(access);
            continue;
        }
        const auto overtaken = std::ranges::find_if_not(read, [&](const Access& each) { return behind(rank, each); });
        if (overtaken != read.end()) return overtaken->rank;
        written = access;
        read.clear();
    }
    return std::nullopt;
}

/// A rank's own steps are ordered by what each waits for.
bool WindowOrder::behind(int rank, const Access& other) {
    if (other.rank == rank) return true;
    return at(other.rank).end_of[static_cast<std::size_t>(other.step)] <=
           at(rank).clock[static_cast<std::size_t>(other.rank)];
}

void WindowOrder::end_call() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        Known& own = at(rank);
        ++own.clock[static_cast<std::size_t>(rank)];
        for (auto step = own.before; step < static_cast<std::int64_t>(own.end_of.size()); ++step) end(own, rank, step);
        own.before = static_cast<std::int64_t>(own.end_of.size());
        own.told.clear();
    }
}

}  // namespace timpani
