#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "collectives/topology.hpp"
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

std::optional<std::string> find_false_claim(const Algorithm& algorithm, const CollectiveArguments& args) {
    const auto schedule = prepare(algorithm, args);
    const auto rounds = schedule->rounds();
    std::vector<char> busy(static_cast<std::size_t>(rounds));
    std::int64_t max_sent = 0;
    std::int64_t max_neighbors = 0;
    std::vector<std::int64_t> leaving_node(args.topology == nullptr ? 0 : args.topology->nodes());
    std::vector<std::int64_t> leaving_group(args.topology == nullptr ? 0 : args.topology->groups());
    Steps steps;
    for (int rank = 0; rank < args.ranks; ++rank) {
        std::int64_t sent = 0;
        std::set<int> neighbors;
        for (std::int64_t round = 0; round < rounds; ++round) {
            steps.clear();
            schedule->round(rank, round, steps);
            if (!steps.all().empty() && schedule->next_active(rank, round) != round) {
                return "rank " + std::to_string(rank) + " skips round " + std::to_string(round) +
                       ", in which it has steps";
            }
            for (const Step& step : steps.all()) {
                if (step.peer < 0) continue;
                busy[static_cast<std::size_t>(round)] = 1;
                neighbors.insert(step.peer);
                if (step.kind != Step::Kind::send) continue;
                sent += step.from.count;
                if (args.topology == nullptr) continue;
                const int node = args.topology->node_of(rank);
                const int of_peer = args.topology->node_of(step.peer);
                if (of_peer == node) continue;
                leaving_node[static_cast<std::size_t>(node)] += step.from.count;
                const int group = args.topology->group_of(node);
                if (args.topology->group_of(of_peer) == group) continue;
                leaving_group[static_cast<std::size_t>(group)] += step.from.count;
            }
        }
        max_sent = std::max(max_sent, sent);
        max_neighbors = std::max(max_neighbors, static_cast<std::int64_t>(neighbors.size()));
    }
    using Claim = std::int64_t (*)(const CollectiveArguments&);
    const auto differs = [&](const char* what, Claim claim, std::int64_t found) -> std::optional<std::string> {
        if (claim == nullptr || claim(args) == found) return std::nullopt;
        return std::string(what) + " claimed " + std::to_string(claim(args)) + ", found " + std::to_string(found);
    };
    const Claims& claims = algorithm.claims;
    auto wrong = differs("rounds:", claims.rounds, std::ranges::count(busy, 1));
    if (!wrong) wrong = differs("elements sent by one rank:", claims.max_sent, max_sent);
    if (!wrong) wrong = differs("neighbors:", claims.max_neighbors, max_neighbors);
    if (args.topology == nullptr) return wrong;
    if (!wrong) wrong = differs("elements leaving one node:", claims.max_leaving_node, std::ranges::max(leaving_node));
    if (!wrong) {
        wrong = differs("elements leaving one group:", claims.max_leaving_group, std::ranges::max(leaving_group));
    }
    return wrong;
}

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
