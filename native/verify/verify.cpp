#include "verify/verify.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "collectives/topology.hpp"
#include "verify/affine.hpp"
#include "verify/summands.hpp"
#include "verify/symbolic_executor.hpp"
#include "verify/window_order.hpp"

namespace timpani {

namespace {

/// Given steps, all in one round.
class GivenSteps final : public Schedule {
  public:
    explicit GivenSteps(const std::vector<std::vector<Step>>& steps) : steps_(steps) {}

    [[nodiscard]] std::int64_t rounds() const override { return 1; }
    void round(int rank, std::int64_t /*k*/, Steps& steps) const override {
        for (const Step& step : steps_[static_cast<std::size_t>(rank)]) steps.add(step);
    }

  private:
    const std::vector<std::vector<Step>>& steps_;
};

std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args,
                                        const Schedule& schedule) {
    try {
        std::optional<WindowOrder> order;
        if (algorithm.window != nullptr) order.emplace(args.ranks);
        for (int call = 0; call < (order ? 2 : 1); ++call) {
            SymbolicExecutor<Affine> executor(algorithm, args, schedule, order ? &*order : nullptr);
            executor.run();
            executor.check_results();
            if (order) order->end_call();
        }
    } catch (const Mistake& mistake) {
        return mistake.what();
    }
    return std::nullopt;
}

using Values = std::set<std::int64_t>;

Values counts_at(const Extent& extent, int ranks) {
    Values counts;
    for (const std::int64_t count :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{ranks} - 1,
          std::int64_t{ranks}, std::int64_t{ranks} + 1, extent.first_count, extent.last_count}) {
        if (extent.first_count <= count && count <= extent.last_count) counts.insert(count);
    }
    return counts;
}

/// Maximum rank count for trying the values that libraries choose: twice the largest value, so that each value occurs
/// with more than one digit or chain.
constexpr int kMaxRanksForTrialValues = 32;

/// The smallest two values, 3 and 7, which divide few counts, the default, and values that libraries choose if below
/// the rank count: larger ones have no effect.
Values values_of(const Parameter& parameter, int ranks) {
    Values values{parameter.minimum, parameter.minimum + 1, parameter.default_value};
    for (const std::int64_t value : {3, 7}) {
        if (value >= parameter.minimum) values.insert(value);
    }
    for (const auto value : parameter.trial_values) {
        if (value < ranks && ranks <= kMaxRanksForTrialValues) values.insert(value);
    }
    return values;
}

/// Blocks of one size; in a v-collective also blocks of all sizes from 0 to `count`, and one block of `count` elements
/// among empty ones.
std::vector<std::vector<std::int64_t>> distributions(const Collective& collective, int ranks, std::int64_t count) {
    const std::vector<std::int64_t> equal;
    if (collective.counts == BlockCounts::equal) return {equal};
    const auto blocks = static_cast<std::size_t>(collective.send.content == Content::pairs ? ranks * ranks : ranks);
    std::vector<std::int64_t> uneven(blocks);
    for (std::size_t i = 0; i < blocks; ++i) uneven[i] = static_cast<std::int64_t>(i * 7 + i / 3) % (count + 1);
    std::vector<std::int64_t> single(blocks);
    single[blocks / 2] = count;
    return {equal, uneven, single};
}

/// Ranks over nodes as host files place them: node by node, round robin, one per node, all on one, unevenly, and
/// irregularly; with groups of consecutive nodes, or of alternate ones. Built once for each rank count.
const std::vector<Topology>& topologies(int ranks) {
    static std::map<int, std::vector<Topology>> made;
    auto& all = made[ranks];
    if (!all.empty()) return all;
    const auto make = [&](auto node_of, auto group_of) {
        std::vector<int> nodes;
        std::vector<int> groups;
        for (int rank = 0; rank < ranks; ++rank) {
            nodes.push_back(node_of(rank));
            groups.push_back(group_of(nodes.back()));
        }
        all.emplace_back(nodes, groups);
    };
    const auto one_group = [](int) { return 0; };
    make([](int) { return 0; }, one_group);
    make([](int rank) { return rank; }, [](int node) { return node % 2; });
    make([](int rank) { return rank / 2; }, [](int node) { return node / 2; });
    make([](int rank) { return rank % 3; }, [](int node) { return node % 2; });
    make([](int rank) { return rank == 0 ? 0 : 1 + rank / 4; }, [](int node) { return node / 3; });
    make([](int rank) { return (rank * rank + rank / 3) % 5; }, [](int node) { return node * 2 % 3; });
    return all;
}

/// Varies one parameter at a time, with the defaults of the others.
std::vector<CollectiveArguments> with_parameters(const Algorithm& algorithm, CollectiveArguments args) {
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        args.parameters.at(i) = algorithm.parameters[i].default_value;
    }
    std::vector<CollectiveArguments> cases{args};
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        for (const auto value : values_of(algorithm.parameters[i], args.ranks)) {
            if (value == algorithm.parameters[i].default_value) continue;
            cases.push_back(args);
            cases.back().parameters.at(i) = value;
        }
    }
    return cases;
}

/// Maximum rank count for trying all pairs of topology and parameters; above, cases alternate between the pairs.
constexpr int kMaxRanksForAllPairs = 12;

/// The cases that the algorithm admits, with its parameters, and with topologies if it needs them.
std::vector<CollectiveArguments> with_topologies(const Algorithm& algorithm, CollectiveArguments args) {
    std::vector<CollectiveArguments> admitted;
    const auto add = [&] {
        if (!algorithm.restrictions.admit(args)) return;
        for (const auto& each : with_parameters(algorithm, args)) admitted.push_back(each);
    };
    if (!algorithm.restrictions.topology) {
        add();
        return admitted;
    }
    for (const Topology& each : topologies(args.ranks)) {
        args.topology = &each;
        add();
    }
    if (args.ranks <= kMaxRanksForAllPairs || admitted.empty()) return admitted;
    const auto turn = static_cast<std::size_t>(std::int64_t{7} * args.ranks + 3 * args.count + args.root);
    return {admitted[turn % admitted.size()]};
}

}  // namespace

std::vector<Step> steps_of(const Algorithm& algorithm, const CollectiveArguments& args, int rank) {
    Steps steps;
    const auto schedule = prepare(algorithm, args);
    for (std::int64_t k = 0; k < schedule->rounds(); ++k) schedule->round(rank, k, steps);
    return {steps.all().begin(), steps.all().end()};
}

std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args,
                                        const std::vector<std::vector<Step>>& steps) {
    return find_mistake(algorithm, args, GivenSteps(steps));
}

std::vector<std::vector<std::string>> orders_of(const Algorithm& algorithm, const CollectiveArguments& args) {
    const auto schedule = prepare(algorithm, args);
    SymbolicExecutor<Summands> executor(algorithm, args, *schedule, nullptr);
    executor.run();
    std::vector<std::vector<std::string>> orders(static_cast<std::size_t>(args.ranks));
    for (int rank = 0; rank < args.ranks; ++rank) {
        auto& own = orders[static_cast<std::size_t>(rank)];
        for (const Summands& each : executor.result(rank)) {
            if (each.written() && std::ranges::find(own, each.order) == own.end()) own.push_back(each.order);
        }
    }
    return orders;
}

std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args) {
    return find_mistake(algorithm, args, *prepare(algorithm, args));
}

void for_each_case(const Algorithm& algorithm, const Extent& extent,
                   const std::function<bool(const CollectiveArguments&)>& visit) {
    const Collective& collective = *find_collective(algorithm.collective);
    for (int ranks = extent.first_ranks; ranks <= extent.last_ranks; ++ranks) {
        const std::set<int> roots =
            collective.rooted() ? std::set<int>{0, std::min(1, ranks - 1), ranks / 2, ranks - 1} : std::set<int>{0};
        for (const auto count : counts_at(extent, ranks)) {
            const auto own_counts = distributions(collective, ranks, count);
            for (const int root : roots) {
                for (const auto& counts : own_counts) {
                    for (const bool commutative : {true, false}) {
                        if (!collective.reduces() && !commutative) continue;
                        const CollectiveArguments args{ranks, count, root, 1, commutative, {}, counts};
                        for (const auto& each : with_topologies(algorithm, args)) {
                            if (!visit(each)) return;
                        }
                    }
                }
            }
        }
    }
}

std::string show(const Algorithm& algorithm, const CollectiveArguments& args) {
    const Collective& collective = *find_collective(algorithm.collective);
    std::string text = std::to_string(args.ranks) + " ranks, " + std::to_string(args.count) + " elements";
    if (collective.rooted()) text += ", root " + std::to_string(args.root);
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        text += ", " + std::string(algorithm.parameters[i].name) + " " + std::to_string(args.parameters.at(i));
    }
    if (args.topology != nullptr) {
        text += ", on nodes";
        for (int rank = 0; rank < args.ranks; ++rank) {
            text += rank == 0 ? ' ' : ',';
            text += std::to_string(args.topology->node_of(rank));
        }
    }
    if (collective.reduces()) text += args.commutative ? ", any order" : ", order kept";
    return text;
}

}  // namespace timpani
