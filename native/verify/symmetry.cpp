#include <algorithm>
#include <string>
#include <vector>

#include "schedule/dependencies.hpp"
#include "verify/verify.hpp"

namespace timpani {

namespace {

/// A step, and the numbers of those that it waits for.
struct WaitingStep {
    Step step;
    std::int64_t round;
    std::vector<std::int64_t> waited;
};

std::vector<WaitingStep> waiting_steps(const Schedule& schedule, int rank, std::int64_t most_under_way) {
    MessagePool<char> pool;
    DependencyTracker<char> tracker;
    std::vector<WaitingStep> all;
    Steps steps;
    for (std::int64_t round = 0; round < schedule.rounds(); ++round) {
        steps.clear();
        schedule.round(rank, round, steps);
        for (const Step& step : steps.all()) {
            const Place place{rank, static_cast<std::int64_t>(all.size())};
            auto& added = all.emplace_back(WaitingStep{step, round, {}});
            tracker.find(pool, step, place.number, most_under_way);
            tracker.remove_waited(pool, [&](const auto& message) { added.waited.push_back(message.number); });
            constexpr bool kMet = true;  // nobody asks by which other side
            if (step.is_message()) tracker.add(pool, pool.add({step, place, round, 0, kMet}));
        }
    }
    return all;
}

bool same_amounts(const Region& a, const Region& b) { return a.buffer == b.buffer && a.count == b.count; }

}  // namespace

std::optional<std::string> find_broken_symmetry(const Algorithm& algorithm, const CollectiveArguments& args) {
    const auto symmetry = symmetry_of(algorithm, args);
    if (symmetry == Symmetry::none) return std::nullopt;
    const auto schedule = prepare(algorithm, args);
    const auto bound = most_under_way(algorithm, args);
    const auto of_first = waiting_steps(*schedule, 0, bound);
    for (int rank = 1; rank < args.ranks; ++rank) {
        const auto own = waiting_steps(*schedule, rank, bound);
        const auto alike = [&](const WaitingStep& first, const WaitingStep& other) {
            const int peer = first.step.peer < 0 ? -1 : image_of(symmetry, args.ranks, rank, first.step.peer);
            return first.step.kind == other.step.kind && first.round == other.round && peer == other.step.peer &&
                   same_amounts(first.step.from, other.step.from) && same_amounts(first.step.to, other.step.to) &&
                   first.waited == other.waited;
        };
        if (!std::ranges::equal(of_first, own, alike)) {
            return "rank " + std::to_string(rank) + " does not do what rank 0 does, as is claimed";
        }
    }
    return std::nullopt;
}

}  // namespace timpani
