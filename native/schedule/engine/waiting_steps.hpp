#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/engine/dependencies.hpp"
#include "schedule/schedule.hpp"

namespace timpani {

/// A step of a rank, and the numbers of the steps that it waits for, in ascending order.
struct WaitingStep {
    Place place;
    std::int64_t round;
    const Step& step;
    std::span<const std::int64_t> waited;
};

/// Calls `visit` with the steps of one rank, in order. It does not look at other ranks' steps.
template <class Visit>
void for_each_waiting_step(const Schedule& schedule, int rank, std::int64_t max_messages_under_way,
                           const Visit& visit) {
    TrackedMessages<char> pool;
    DependencyTracker<char> tracker;
    Steps steps;
    std::vector<std::int64_t> waited;
    Place place{rank, 0};
    const auto rounds = schedule.rounds();
    for (auto round = schedule.next_active(rank, 0); round < rounds; round = schedule.next_active(rank, round + 1)) {
        steps.clear();
        schedule.round(rank, round, steps);
        for (const Step& step : steps.all()) {
            waited.clear();
            tracker.find(pool, step, place.number, max_messages_under_way);
            tracker.remove_waited(pool, [&](const auto& message) { waited.push_back(message.number); });
            constexpr bool kMet = true;  // other sides don't matter here
            if (step.is_message()) tracker.add(pool, pool.add({step, place, round, 0, kMet}));
            visit(WaitingStep{place, round, step, waited});
            ++place.number;
        }
    }
}

}  // namespace timpani
