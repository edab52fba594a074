#include "verify/window_order.hpp"

#include <algorithm>

namespace timpani {

WindowOrder::WindowOrder(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {
    for (RankState& each : ranks_) each.clock.resize(static_cast<std::size_t>(ranks));
}

void WindowOrder::begin(int rank, const Step& step, std::span<const std::int64_t> waited) {
    RankState& own = at(rank);
    const auto number = static_cast<std::int64_t>(own.end_of.size());
    const std::int64_t now = ++own.clock[static_cast<std::size_t>(rank)];
    for (const auto earlier : waited) end(own, rank, own.steps_before + earlier);
    own.end_of.push_back(step.is_message() ? kUnderWay : now);
    if (step.notifies()) own.carried.emplace(number, own.clock);
}

void WindowOrder::end(RankState& state, int rank, std::int64_t step) {
    std::int64_t& end = state.end_of[static_cast<std::size_t>(step)];
    if (end != kUnderWay) return;
    end = state.clock[static_cast<std::size_t>(rank)];
    const auto carried = state.carried.find(step);
    if (carried == state.carried.end()) return;
    for (std::size_t i = 0; i < state.clock.size(); ++i) state.clock[i] = std::max(state.clock[i], carried->second[i]);
    state.carried.erase(carried);
}

void WindowOrder::deliver(int sender, std::int64_t send, int receiver, std::int64_t receive) {
    RankState& from = at(sender);
    const auto carried = from.carried.find(from.steps_before + send);
    if (carried != from.carried.end()) at(receiver).carried[at(receiver).steps_before + receive] = carried->second;
}

std::optional<int> WindowOrder::touch(int rank, int node, const Region& region, bool write) {
    const Access access{rank, static_cast<std::int64_t>(at(rank).end_of.size()) - 1};
    for (std::int64_t place = region.first; place < region.end(); ++place) {
        auto& [written, read] = elements_[{node, place}];
        if (written && !happened_before(*written, rank)) return written->rank;
        if (!write) {
            read.push_back(access);
            continue;
        }
        const auto racing =
            std::ranges::find_if_not(read, [&](const Access& each) { return happened_before(each, rank); });
        if (racing != read.end()) return racing->rank;
        written = access;
        read.clear();
    }
    return std::nullopt;
}

/// A rank's own steps are ordered by their waits.
bool WindowOrder::happened_before(const Access& other, int rank) {
    if (other.rank == rank) return true;
    return at(other.rank).end_of[static_cast<std::size_t>(other.step)] <=
           at(rank).clock[static_cast<std::size_t>(other.rank)];
}

void WindowOrder::end_call() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        RankState& own = at(rank);
        ++own.clock[static_cast<std::size_t>(rank)];
        const auto steps = static_cast<std::int64_t>(own.end_of.size());
        for (auto step = own.steps_before; step < steps; ++step) end(own, rank, step);
        own.steps_before = steps;
        own.carried.clear();
    }
}

}  // namespace timpani
