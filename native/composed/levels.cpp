#include "composed/levels.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace timpani {

namespace {

/// Ranks that the first of them leads.
using Unit = std::vector<int>;

/// Joins units of equal key, in the order of their leaders.
std::vector<Unit> join(const std::vector<Unit>& units, const std::function<int(int)>& key_of) {
    std::vector<Unit> joined;
    std::map<int, std::size_t> places;
    for (const Unit& unit : units) {
        const auto [place, first_seen] = places.try_emplace(key_of(unit.front()), joined.size());
        if (first_seen) joined.emplace_back();
        joined[place->second].insert(joined[place->second].end(), unit.begin(), unit.end());
    }
    return joined;
}

/// The level at which `units` of one key meet, as seen by one of their leaders.
Level level_of(const std::vector<Unit>& units, const std::function<int(int)>& key_of, int rank, int count) {
    Level level;
    if (std::ranges::find(units, rank, [](const Unit& unit) { return unit.front(); }) == units.end()) return level;
    level.color = key_of(rank);
    int next = 0;
    for (const Unit& unit : units) {
        if (key_of(unit.front()) != level.color) continue;
        level.members.push_back(unit.front());
        level.counts.push_back(static_cast<int>(unit.size()) * count);
        level.displacements.push_back(next);
        next += level.counts.back();
        if (unit.front() == rank) level.own_count = level.counts.back();
    }
    return level;
}

}  // namespace

bool Level::even() const { return std::ranges::adjacent_find(counts, std::not_equal_to{}) == counts.end(); }

Levels levels_of(const CollectiveArguments& args, int rank, const Shape& shape) {
    const Topology& topology = *args.topology;
    std::vector<std::function<int(int)>> keys{[&](int each) { return topology.node_of(each); }};
    if (shape.by_group) keys.emplace_back([&](int each) { return topology.group_of(topology.node_of(each)); });
    keys.emplace_back([](int) { return 0; });

    std::vector<Unit> units;
    for (int i = 0; i < args.ranks; ++i) units.push_back({(args.root + i) % args.ranks});
    Levels found;
    for (const auto& key_of : keys) {
        found.levels.push_back(level_of(units, key_of, rank, static_cast<int>(args.count)));
        units = join(units, key_of);
    }
    found.order = units.front();
    return found;
}

}  // namespace timpani
