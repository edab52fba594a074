#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/engine/dependencies.hpp"
#include "verify/verify.hpp"

namespace timpani {

namespace {

/// A step, and the numbers of the steps that it waits for.
struct StepWithWaits {
    Step step;
    std::int64_t round;
    std::vector<std::int64_t> waited;
};

std::vector<StepWithWaits> steps_of(const Schedule& schedule, int rank, std::int64_t max_messages_under_way) {
    std::vector<StepWithWaits> all;
    for_each_waiting_step(schedule, rank, max_messages_under_way, [&](const WaitingStep& each) {
        all.push_back({each.step, each.round, {each.waited.begin(), each.waited.end()}});
    });
    return all;
}

bool same_amounts(const Region& a, const Region& b) { return a.buffer == b.buffer && a.count == b.count; }

}  // namespace

std::optional<std::string> find_broken_symmetry(const Algorithm& algorithm, const CollectiveArguments& args) {
    const auto symmetry = symmetry_of(algorithm, args);
    if (symmetry == Symmetry::none) return std::nullopt;
    const auto schedule = prepare(algorithm, args);
    const auto bound = max_messages_under_way(algorithm, args);
    const auto of_first = steps_of(*schedule, 0, bound);
    for (int rank = 1; rank < args.ranks; ++rank) {
        const auto own = steps_of(*schedule, rank, bound);
        const auto equal = [&](const StepWithWaits& first, const StepWithWaits& other) {
            const int peer = first.step.peer < 0 ? -1 : image_of(symmetry, args.ranks, rank, first.step.peer);
            return first.step.kind == other.step.kind && first.round == other.round && peer == other.step.peer &&
                   same_amounts(first.step.from, other.step.from) && same_amounts(first.step.to, other.step.to) &&
                   first.waited == other.waited;
        };
        if (!std::ranges::equal(of_first, own, equal)) {
            return "rank " + std::to_string(rank) +
                   " does not do what rank 0 does, which contradicts the claimed symmetry";
        }
    }
    return std::nullopt;
}

}  // namespace timpani
