#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "collectives/topology.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "simulate/by_level.hpp"
#include "simulate/clock.hpp"
#include "tests/check.hpp"

namespace {

using namespace timpani;

constexpr double kA = 1000;
constexpr double kB = 3;
constexpr double kG = 0.5;
const Costs kCosts = hockney(kA, kB, kG);

double time_of(std::string_view collective, const std::string& algorithm, int ranks, std::int64_t count) {
    const auto bound =
        timpani::bind(collective, algorithm, CollectiveArguments{.ranks = ranks, .count = count, .root = 0});
    return simulate(*bound.algorithm, bound.args, kCosts);
}

/// Every cost is set, to values without a common sum; near and far messages have separate costs.
Costs all_costs() {
    return {.overhead = 31,
            .reduced = 0.37,
            .copied = 0.11,
            .eager = 0.07,
            .rest = 509,
            .eager_below = 513,
            .messages = {{{},
                          {},
                          {{0, 97, 1.3, 211, 0.17}, {1024, 401, 0.7, 1009, 0.19}},
                          {{0, 307, 2.9, 5003, 0.23}},
                          {{0, 503, 3.1, 9001, 0.29}}}}};
}

/// The same, but messages between near ranks of a node cost less.
Costs nearer(Costs costs) {
    costs.messages[0] = {{0, 41, 0.3, 101, 0.07}, {600, 43, 0.2, 103, 0.05}, {5'000, 47, 0.1, 107, 0.03}};
    costs.messages[1] = {{0, 61, 0.6, 151, 0.11}, {700, 67, 0.5, 157, 0.13}, {7'000, 71, 0.4, 163, 0.09}};
    return costs;
}

/// The same, but messages share ports and links.
Costs fairly(Costs costs) {
    costs.fair = true;
    return costs;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

/// An algorithm of that many rounds.
template <std::int64_t rounds>
Algorithm in_rounds(decltype(Algorithm::round) round) {
    Algorithm algorithm = *find_algorithm("bcast", "linear");
    algorithm.rounds = always<rounds>;
    algorithm.round = round;
    algorithm.next_active = nullptr;
    return algorithm;
}

/// Calls `check` with `args`, default parameters and each algorithm that admits them.
template <class Check>
void for_each_algorithm(CollectiveArguments args, const Check& check) {
    for (const Algorithm* algorithm : algorithms()) {
        for (std::size_t i = 0; i < algorithm->parameters.size(); ++i) {
            args.parameters.at(i) = algorithm->parameters[i].default_value;
        }
        if (algorithm->restrictions.admit(args)) check(*algorithm, args);
    }
}

/// Calls `check` with every algorithm that needs no topology, over rank counts, sizes and roots.
template <class Check>
void for_each_call(std::initializer_list<int> rank_counts, const Check& check) {
    for (const int ranks : rank_counts) {
        for (const std::int64_t count : {1, 50, 3'000}) {
            for_each_algorithm({.ranks = ranks, .count = count, .root = ranks / 3}, check);
        }
    }
}

/// Whether the call can be computed by level. Then events must give the same time.
bool check_by_level(const Algorithm& algorithm, const CollectiveArguments& args, const Costs& costs) {
    const auto time = last_by_level<0>(algorithm, args, costs);
    if (time) CHECK(near(time->time + costs.rest, simulate(algorithm, args, costs, [](const Event&) {})));
    return time.has_value();
}

/// The sum of amounts times costs is the time, for any call.
void check_sums(Costs costs) {
    costs.shared = {0.41, 0.83, 2.03};
    if (!costs.fair) costs.burst = {0, 700, 90};
    costs.idle = 230;
    std::vector<double> prices{costs.overhead, costs.reduced, costs.copied, costs.eager, costs.rest, costs.idle};
    prices.insert(prices.end(), costs.shared.begin(), costs.shared.end());
    for (const auto& lines : costs.messages) {
        for (const Line& line : lines)
            prices.insert(prices.end(), {line.gap, line.per_byte, line.latency, line.latency_per_byte});
    }
    for_each_call({1, 2, 3, 7, 16}, [&](const Algorithm& algorithm, CollectiveArguments args) {
        const auto nodes = std::max(1, args.ranks / 3);
        const auto topology = Topology::even(args.ranks, nodes, std::min(nodes, 2), Topology::Order::round_robin,
                                             {.cores = 16, .sockets = 4, .caches = 8});
        args.topology = args.count > 50 ? &topology : nullptr;
        const double time = simulate(algorithm, args, costs);
        for (const bool by_events : {false, true}) {
            const Composition found = compose(algorithm, args, costs, by_events);
            CHECK(near(found.time, time));
            CHECK(near(std::inner_product(prices.begin(), prices.end(), found.amounts.begin(), 0.0), time));
            CHECK(found.waited >= 0 && found.waited <= found.time);
        }
    });
}

}  // namespace

// Formulas from the literature: Thakur, Rabenseifner and Gropp 2005; Pješivac-Grbović 2007; Patarasuk and Yuan 2009. m
// is the total for all-to-all and allgather. p is a power of two, so nothing is folded.
TEST(schedules_take_the_published_times) {
    for (const int lg : {1, 2, 3, 5}) {
        const int p = 1 << lg;
        const std::int64_t m = 64LL * p;
        const auto bytes = static_cast<double>(m);
        const double step = kA + kB * bytes;
        const double share = (p - 1.0) / p;
        CHECK(near(time_of("bcast", "linear", p, m), (p - 1) * step));
        CHECK(near(time_of("bcast", "binomial", p, m), lg * step));
        CHECK(near(time_of("bcast", "scatter_allgather", p, m), 2 * lg * kA + 2 * share * kB * bytes));
        CHECK(near(time_of("bcast", "scatter_allgather_ring", p, m), (lg + p - 1) * kA + 2 * share * kB * bytes));
        CHECK(near(time_of("allgather", "bruck", p, m / p), lg * kA + share * kB * bytes));
        CHECK(near(time_of("reduce", "binomial", p, m), lg * (step + kG * bytes)));
        // It reduces a block while the next is on its way, which the formula ignores.
        const double wire = (p - 1) * kA + share * kB * bytes;
        const double pairwise = time_of("reduce_scatter", "pairwise", p, m);
        CHECK(wire < pairwise && pairwise <= wire + share * kG * bytes);
        CHECK(near(time_of("alltoall", "bruck", p, m / p), lg * (kA + kB * bytes / 2)));
    }
}

// The same sources, for schedules that one rank represents: up to 2^20 ranks.
TEST(symmetric_schedules_take_the_published_times_on_a_million_ranks) {
    for (const int lg : {1, 2, 3, 5, 12, 17, 20}) {
        const int p = 1 << lg;
        const std::int64_t m = 64LL * p;
        const auto bytes = static_cast<double>(m);
        const double share = (p - 1.0) / p;
        CHECK(near(time_of("barrier", "dissemination", p, 0), lg * kA));
        CHECK(near(time_of("allgather", "ring", p, m / p), (p - 1) * kA + share * kB * bytes));
        CHECK(near(time_of("allgather", "recursive_doubling", p, m / p), lg * kA + share * kB * bytes));
        CHECK(near(time_of("allreduce", "recursive_doubling", p, m), lg * (kA + (kB + kG) * bytes)));
        CHECK(near(time_of("allreduce", "rabenseifner", p, m), 2 * lg * kA + share * (2 * kB + kG) * bytes));
        CHECK(near(time_of("reduce_scatter", "recursive_halving", p, m), lg * kA + share * (kB + kG) * bytes));
        if (lg == 20) continue;  // a million rounds of these two would take seconds; the ring above has as many
        CHECK(near(time_of("allreduce", "ring", p, m), 2 * (p - 1) * kA + share * (2 * kB + kG) * bytes));
        CHECK(near(time_of("alltoall", "pairwise", p, m / p), (p - 1) * kA + share * kB * bytes));
    }
}

// Not a power of two, and no trees: by level, which makes such numbers of ranks fast.
TEST(a_hundred_thousand_ranks_take_the_published_times) {
    constexpr int kRanks = 100'000;
    constexpr int kLog = 17;
    CHECK(near(time_of("barrier", "dissemination", kRanks, 0), kLog * kA));
    CHECK(near(time_of("bcast", "binomial", kRanks, 8), kLog * (kA + kB * 8)));
    CHECK(near(time_of("reduce", "binomial", kRanks, 8), kLog * (kA + kB * 8 + kG * 8)));
    CHECK(near(time_of("allgather", "bruck", kRanks, 8), kLog * kA + (kRanks - 1) * kB * 8));
}

TEST(by_level_or_by_events_a_call_takes_the_same) {
    int by_level = 0;
    const std::vector<Costs> every{kCosts, unit_clock(), hockney(0.1, 0.01, 7), all_costs(), fairly(all_costs())};
    for_each_call({1, 2, 3, 6, 7, 8, 16, 21, 32}, [&](const Algorithm& algorithm, const CollectiveArguments& args) {
        for (const Costs& costs : every) {
            if (check_by_level(algorithm, args, costs)) ++by_level;
        }
    });
    CHECK(by_level > 1'000);
}

// Near and far messages alternate at a port: behind one switch, in groups, with one rank per node, on unequal nodes.
TEST(by_level_or_by_events_a_call_takes_the_same_on_nodes_that_share_no_links) {
    const std::vector<int> nodes{0, 1, 0, 2, 2, 3, 2, 4, 1, 2, 2, 5, 0, 5, 2, 6, 6};
    const std::vector<int> groups{0, 1, 0, 0, 0, 2, 0, 1, 1, 0, 0, 1, 0, 1, 0, 2, 2};
    int knowing_nodes = 0;
    for (const Topology& topology :
         {Topology::even(16, 4, 1, Topology::Order::round_robin),
          Topology::even(24, 4, 2, Topology::Order::node_by_node),
          Topology::even(24, 4, 2, Topology::Order::node_by_node, {.cores = 8, .sockets = 2, .caches = 4}),
          Topology::even(13, 13, 3, Topology::Order::node_by_node), Topology(nodes, groups)}) {
        int by_level = 0;
        for (Costs costs : {nearer(all_costs()), fairly(all_costs())}) {
            for (const std::int64_t eager_below : {0, 513}) {
                costs.eager_below = eager_below;
                for (const std::int64_t count : {1, 50, 3'000}) {
                    const CollectiveArguments all{
                        .ranks = topology.ranks(), .count = count, .root = 5, .topology = &topology};
                    for_each_algorithm(all, [&](const Algorithm& algorithm, const CollectiveArguments& args) {
                        const int by_relation = check_by_level(algorithm, args, costs) ? 1 : 0;
                        by_level += by_relation;
                        if (algorithm.restrictions.topology) knowing_nodes += by_relation;
                    });
                }
            }
        }
        CHECK(by_level > 200);
    }
    CHECK(knowing_nodes > 100);
}

// In a tree the root and the inner ranks have messages of several rounds under way, and wait for all at once. Rank 1
// posts its receives from the root in the scatter and in the allgather at once, but the root sends one after another.
TEST(calls_with_messages_of_several_rounds_under_way_are_worked_out_by_level) {
    const auto takes = [](std::string_view collective, const std::string& algorithm, double expected) {
        const auto bound = timpani::bind(collective, algorithm, {.ranks = 64, .count = 64, .root = 0});
        const auto time = last_by_level<0>(*bound.algorithm, bound.args, kCosts);
        CHECK(time && near(time->time, expected));
    };
    takes("gather", "binomial", 6 * kA + 63 * 64 * kB);
    takes("reduce", "rabenseifner", 12 * kA + 63 * (2 * kB + kG));
    takes("bcast", "scatter_allgather", 2 * (6 * kA + 63 * kB));
}

// Rank 0 sends two eager messages at once, to ranks that are ready after 10 and 12. If they share its port, both have
// arrived by then. Otherwise the second starts when its receiver is ready.
TEST(eager_messages_that_share_ports_flow_before_their_receivers_are_ready) {
    const Algorithm late = in_rounds<3>([](const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
        if (k == 0 && rank > 0) steps.reduce({Buffer::send, 0, 8 + 2 * rank}, {Buffer::scratch, 0, 8 + 2 * rank});
        if (k > 0 && rank == 0) steps.send(static_cast<int>(k), {Buffer::send, 0, args.count});
        if (k > 0 && rank == k) steps.receive(0, {Buffer::receive, 0, args.count});
    });
    Costs costs{.reduced = 1, .eager_below = 100, .messages = {{{{.gap = 5}}}}};
    const CollectiveArguments args{.ranks = 3, .count = 1, .root = 0};
    CHECK(simulate(late, args, costs, [](const Event&) {}) == 17);
    CHECK(simulate(late, args, costs) == 17);
    costs.fair = true;
    CHECK(simulate(late, args, costs, [](const Event&) {}) == 12);
    CHECK(simulate(late, args, costs) == 12);
}

TEST(a_time_is_the_sum_of_what_was_paid_on_the_way_to_it) {
    check_sums(all_costs());
    check_sums(nearer(all_costs()));
    check_sums(fairly(all_costs()));
}

TEST(a_message_is_paid_by_its_own_size_and_by_how_close_its_ranks_are) {
    const std::vector<int> nodes{0, 0, 1, 2};
    const std::vector<int> groups{0, 0, 0, 1};
    const Topology topology(nodes, groups);
    // The root's messages leave one after the other: to its own node, its group, another group.
    const auto amounts = [&](std::int64_t count) {
        const auto bound =
            timpani::bind("bcast", "linear", {.ranks = 4, .count = count, .root = 0, .topology = &topology});
        return compose(*bound.algorithm, bound.args, all_costs()).amounts;
    };
    const std::vector<double> small{1, 0, 0, 8, 1, 0, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0, 0, 1, 8, 0, 0, 1, 8, 1, 8};
    CHECK(amounts(8) == small);
    const std::vector<double> large{1, 0,    0, 0, 1, 0,    0, 0, 0, 0,    0, 0,   0,
                                    1, 1024, 0, 0, 1, 1024, 0, 0, 1, 1024, 1, 1024};
    CHECK(amounts(1024) == large);
}

// Two nodes of two sockets of two caches of two cores. A pipeline of one segment passes from each rank to the next.
TEST(a_message_takes_longer_between_caches_and_longer_between_sockets) {
    const Costs by_relation{.messages = {{{{.gap = 1}}, {{.gap = 10}}, {{.gap = 100}}, {{.gap = 1000}}}}};
    const auto takes = [](const Costs& costs, const Topology& topology) {
        const CollectiveArguments args{.ranks = 16, .count = 1, .root = 0, .topology = &topology};
        const auto bound = timpani::bind("bcast", "pipeline", args);
        const double time = simulate(*bound.algorithm, bound.args, costs);
        CHECK(compose(*bound.algorithm, bound.args, costs, true).time == time);  // by events
        return time;
    };
    const auto even = [](NodeParts parts, Topology::Order order = Topology::Order::node_by_node) {
        return Topology::even(16, 2, 1, order, parts);
    };
    const NodeParts one_behind_the_other{.cores = 8, .sockets = 2, .caches = 4};
    const NodeParts one_a_socket{.cores = 8, .sockets = 2, .caches = 4, .dealt = true};
    const NodeParts nobody_knows{};
    CHECK(takes(by_relation, even(one_behind_the_other)) == 8 * 1 + 4 * 10 + 2 * 100 + 1000);
    CHECK(takes(by_relation, even(one_a_socket)) == 14 * 100 + 1000);
    CHECK(takes(by_relation, even(nobody_knows)) == 14 * 100 + 1000);
    CHECK(takes(by_relation, even(one_behind_the_other, Topology::Order::round_robin)) == 15 * 1000);
    // Rank by rank: no two ranks of a node share a cache, and the second node's ranks are on one socket.
    std::vector<int> nodes;
    std::vector<Seat> seats;
    for (int rank = 0; rank < 16; ++rank) {
        nodes.push_back(rank / 8);
        seats.push_back({.socket = rank < 4 ? 0 : 1, .cache = rank});
    }
    CHECK(takes(by_relation, Topology(nodes, std::vector<int>(16), seats)) == 13 * 10 + 100 + 1000);
    // Without costs for caches and nodes, messages within a cache and between sockets cost what they cost in a socket.
    const Costs sockets{.messages = {{{}, {{.gap = 10}}, {}, {{.gap = 1000}}}}};
    CHECK(takes(sockets, even(one_behind_the_other)) == 14 * 10 + 1000);
}

TEST(messages_that_hold_their_ports_for_less_than_they_take_overlap) {
    const Costs costs{.messages = {{{{.gap = 10, .per_byte = 1, .latency = 100}}}}};
    const auto bound = timpani::bind("bcast", "linear", {.ranks = 5, .count = 3, .root = 0});
    const Composition found = compose(*bound.algorithm, bound.args, costs);
    CHECK(found.time == 4 * (10 + 3) + 100);
    CHECK(found.waited == 3 * (10 + 3));
}

// The max-rate model of Gropp, Olson and Samfass 2016: k ranks of one node send n bytes each to another node's ranks.
TEST(messages_that_share_a_link_take_its_rate_or_what_one_takes_alone) {
    const Algorithm pairs =
        in_rounds<1>([](const CollectiveArguments& args, int rank, std::int64_t /*k*/, Steps& steps) {
            const int half = args.ranks / 2;
            if (rank < half) steps.send(rank + half, {Buffer::send, 0, args.count});
            if (rank >= half) steps.receive(rank - half, {Buffer::receive, 0, args.count});
        });
    constexpr double kLink = 0.8;
    constexpr std::int64_t kCount = 1000;
    // Both halves on one node, one node each, one group each.
    for (const Link link : {kMemory, kNodeLink, kUplink}) {
        const int nodes = link == kMemory ? 1 : 2;
        const int groups = link == kUplink ? 2 : 1;
        for (const int senders : {1, 2, 5, 16}) {
            const auto topology = Topology::even(2 * senders, nodes, groups, Topology::Order::node_by_node);
            Costs costs = kCosts;
            costs.shared.at(link) = kLink;
            const CollectiveArguments args{.ranks = 2 * senders, .count = kCount, .root = 0, .topology = &topology};
            const double alone = kA + kB * kCount;
            const Composition found = compose(pairs, args, costs);
            CHECK(near(found.time, std::max(alone, senders * kCount * kLink)));
            CHECK(near(found.waited, std::max(0.0, senders * kCount * kLink - alone)));
            CHECK(near(simulate(pairs, args, fairly(costs)), found.time));
            // If it is unknown who shares a link, or if messages overtake others, each takes as long as it takes alone.
            CHECK(near(simulate(pairs, {.ranks = 2 * senders, .count = kCount, .root = 0}, costs), alone));
            std::swap(costs.shared[kMemory], costs.shared[kUplink]);
            if (link != kNodeLink) CHECK(near(simulate(pairs, args, costs), alone));
        }
    }
}

// A token bucket: while its link is idle it gains what could have passed, up to its burst.
TEST(a_link_lets_a_burst_pass_at_once_after_a_rest) {
    // A rank sends, changes its data and sends again.
    const Algorithm twice = in_rounds<2>([](const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
        const Region all{Buffer::scratch, 0, args.count};
        if (rank == 0 && k == 1) steps.reduce({Buffer::send, 0, args.count}, all);
        if (rank == 0) steps.send(1, all);
        if (rank == 1) steps.receive(0, all);
    });
    const auto topology = Topology::even(2, 2, 1, Topology::Order::node_by_node);
    const CollectiveArguments args{.ranks = 2, .count = 100, .root = 0, .topology = &topology};
    const auto time = [&](double idle, double burst, double reduced) {
        Costs costs = hockney(1, 0, reduced);
        costs.shared = {0, 2, 0};
        costs.burst = {0, burst, 0};
        costs.idle = idle;
        return simulate(twice, args, costs);
    };
    CHECK(time(0, 0, 0.3) == 200 + 30 + 200);
    CHECK(time(0, 50, 0.3) == 200 + 30 + (200 - 30));             // as long as it was idle
    CHECK(time(0, 50, 3) == 200 + 300 + (200 - 2 * 50));          // as much as the bucket holds
    CHECK(time(20, 50, 3) == (200 - 20) + 300 + (200 - 2 * 50));  // from before the call
    CHECK(time(500, 50, 3) == (200 - 2 * 50) + 300 + (200 - 2 * 50));
    CHECK(time(500, 150, 0) == 1 + (400 - 2 * 150 - 1));  // the second has what the first left, and waits
}

TEST(messages_that_share_a_port_fairly_end_together) {
    const Costs costs{.messages = {{{{.gap = 10, .per_byte = 1, .latency = 100}}}}};
    const auto bound = timpani::bind("bcast", "linear", {.ranks = 5, .count = 3, .root = 0});
    const auto ends = [&](const Costs& with) {
        std::vector<double> found;
        const auto keep = [&](const Event& event) {
            if (event.step.kind == Step::Kind::send) found.push_back(event.end);
        };
        CHECK(simulate(*bound.algorithm, bound.args, with, keep) == 4 * 13 + 100);
        std::ranges::sort(found);
        return found;
    };
    CHECK(ends(costs) == std::vector<double>({113, 126, 139, 152}));
    CHECK(ends(fairly(costs)) == std::vector<double>({152, 152, 152, 152}));
    // With three rounds, the root's messages take 3, the next rank's two more 2, and the last 1.
    const auto tree = timpani::bind("bcast", "binomial", {.ranks = 8, .count = 100, .root = 0});
    CHECK(near(simulate(*tree.algorithm, tree.args, kCosts), 3 * (kA + 100 * kB)));
    CHECK(near(simulate(*tree.algorithm, tree.args, fairly(kCosts)), 6 * (kA + 100 * kB)));
}

// Its receiver waits for one after the other, and the latency of all but the first has passed by then.
TEST(an_eager_message_is_on_its_way_before_its_receiver_waits_for_it) {
    const auto bound = timpani::bind("gather", "linear", {.ranks = 5, .count = 3, .root = 0});
    Costs costs{.eager_below = 4, .messages = {{{{.gap = 10, .per_byte = 1, .latency = 100}}}}};
    CHECK(simulate(*bound.algorithm, bound.args, costs) == 10 + 3 + 100 + 3 * (10 + 3));
    costs.eager_below = 3;
    CHECK(simulate(*bound.algorithm, bound.args, costs) == 4 * (10 + 3 + 100));
}

// Each passes its sender's port while its receiver waits for the one before. A block waits for two slow messages on its
// way around the ring, and not for one in every round.
TEST(eager_messages_follow_each_other_while_the_first_is_on_its_way) {
    const auto bound = timpani::bind("allgather", "ring", {.ranks = 16, .count = 3, .root = 0});
    const auto topology = Topology::even(16, 2, 1, Topology::Order::node_by_node);
    CollectiveArguments args = bound.args;
    args.topology = &topology;
    const Costs costs{.eager_below = 4, .messages = {{{}, {}, {{.gap = 1}}, {{.gap = 1, .latency = 100}}}}};
    for (const Costs& each : {costs, fairly(costs)}) {
        CHECK(simulate(*bound.algorithm, args, each) == 15 * 1 + 2 * 100);
        CHECK(compose(*bound.algorithm, args, each, true).time == 15 * 1 + 2 * 100);  // by events
    }
}

TEST(a_rank_pays_for_what_it_sends_and_copies_what_it_sends_eagerly) {
    const auto bound = timpani::bind("bcast", "linear", {.ranks = 5, .count = 3, .root = 0});
    Costs costs{.overhead = 10, .eager = 2, .eager_below = 4, .messages = {{{{.latency = 100}}}}};
    for (const Costs& each : {costs, fairly(costs)}) {
        CHECK(simulate(*bound.algorithm, bound.args, each) == 4 * (10 + 3 * 2) + 100);
        CHECK(compose(*bound.algorithm, bound.args, each, true).time == 4 * (10 + 3 * 2) + 100);  // by events
    }
    costs.eager_below = 3;
    CHECK(simulate(*bound.algorithm, bound.args, costs) == 4 * 10 + 100);
}

// Recursive doubling: two rounds within four ranks, and one in which each of them exchanges with one of the others.
TEST(messages_pass_the_memory_of_their_ranks_sockets) {
    const auto bound = timpani::bind("allreduce", "recursive_doubling", {.ranks = 8, .count = 1000, .root = 0});
    Costs costs = hockney(0, 1, 0);
    costs.shared = {2, 0, 0};
    const auto takes = [&](const Topology& topology, const Costs& each) {
        CollectiveArguments args = bound.args;
        args.topology = &topology;
        return simulate(*bound.algorithm, args, each);
    };
    const NodeParts two_sockets{.cores = 8, .sockets = 2, .caches = 2};
    const auto one = Topology::even(8, 1, 1, Topology::Order::node_by_node);
    const auto halves = Topology::even(8, 1, 1, Topology::Order::node_by_node, two_sockets);
    const auto nodes = Topology::even(8, 2, 1, Topology::Order::node_by_node);
    for (const Costs& each : {costs, fairly(costs)}) {
        CHECK(near(takes(one, each), (8 + 8 + 8) * 2 * 1000));
        CHECK(near(takes(halves, each), (4 + 4 + 8) * 2 * 1000));
    }
    CHECK(near(takes(nodes, costs), (4 + 4) * 2 * 1000 + 1000));
    CHECK(near(takes(nodes, fairly(costs)), (4 + 4 + 8) * 2 * 1000));
}

TEST(messages_of_two_directions_pass_a_link_at_once) {
    const auto bound = timpani::bind("allreduce", "recursive_doubling", {.ranks = 8, .count = 1000, .root = 0});
    const auto topology = Topology::even(8, 2, 1, Topology::Order::node_by_node);
    CollectiveArguments args = bound.args;
    args.topology = &topology;
    // Two rounds within the nodes, and one in which all four ranks of each node send to the other.
    Costs costs = hockney(0, 1, 0);
    costs.shared = {0, 2, 0};
    CHECK(near(simulate(*bound.algorithm, args, costs), 2 * 1000 + 4 * 2 * 1000));
    CHECK(!last_by_level<0>(*bound.algorithm, args, costs));
}

TEST(one_rank_takes_as_long_as_all_equivalent_ranks) {
    int symmetric = 0;
    for (const int ranks : {2, 3, 7, 8, 16, 21}) {
        for (const std::int64_t count : {0, 1, 50, 16 * 3 * 7 * 10}) {
            const CollectiveArguments all{.ranks = ranks, .count = count, .root = 0};
            for_each_algorithm(all, [&](const Algorithm& algorithm, const CollectiveArguments& args) {
                if (symmetry_of(algorithm, args) == Symmetry::none) return;
                ++symmetric;
                for (const Costs& costs : {kCosts, unit_clock(), hockney(0.1, 0.01, 7)}) {
                    CHECK(simulate(algorithm, args, costs) == simulate(algorithm, args, costs, [](const Event&) {}));
                }
                const Costs fair = fairly(all_costs());
                CHECK(near(simulate(algorithm, args, fair), simulate(algorithm, args, fair, [](const Event&) {})));
            });
        }
    }
    CHECK(symmetric > 200);
}

TEST(a_billion_equivalent_ranks_take_the_published_time) {
    constexpr int kRanks = 1 << 30;
    CHECK(near(time_of("barrier", "dissemination", kRanks, 0), 30 * kA));
    CHECK(near(time_of("allreduce", "recursive_doubling", kRanks, 8), 30 * (kA + kB * 8 + kG * 8)));
    CHECK(near(time_of("allgather", "recursive_doubling", kRanks, 1), 30 * kA + (kRanks - 1.0) * kB));
}

TEST(a_call_in_which_a_message_may_overtake_is_not_worked_out_by_level) {
    // The root's second send can flow before the first, whose receiver is late: it reduces for a long time.
    const Algorithm late = in_rounds<3>([](const CollectiveArguments&, int rank, std::int64_t k, Steps& steps) {
        const Region all{Buffer::receive, 0, 8};
        if (k == 0 && rank == 1) steps.reduce({Buffer::send, 0, 8}, {Buffer::scratch, 0, 8});
        if (k == 0) return;
        if (rank == 0) steps.send(static_cast<int>(k), {Buffer::send, 0, 8});
        if (rank == k) steps.receive(0, all);
    });
    const CollectiveArguments args{.ranks = 3, .count = 8, .root = 0};
    const Costs costs = hockney(1, 0, 10);
    CHECK(!last_by_level<0>(late, args, costs));
    CHECK(simulate(late, args, costs) == 81.0);
}

TEST(segments_flow_through_a_pipeline_one_behind_the_other) {
    const double step = kA + kB * 128;
    for (const int p : {2, 3, 7}) {
        CHECK(near(time_of("bcast", "pipeline:segment_bytes=128", p, 1280), (p + 10 - 2) * step));
    }
}

TEST(a_message_flows_once_both_sides_are_there_and_a_rank_receives_one_at_a_time) {
    const auto bound =
        timpani::bind("gather", "linear_nonblocking", CollectiveArguments{.ranks = 4, .count = 1, .root = 0});
    int messages = 0;
    const auto check = [&messages](const Event& event) {
        if (event.step.kind == Step::Kind::receive) ++messages;
        if (event.step.is_message()) CHECK(event.end - event.start == 1.0);
    };
    CHECK(simulate(*bound.algorithm, bound.args, unit_clock(), check) == 3.0);
    CHECK(messages == 3);
}

TEST(messages_that_wait_for_a_port_flow_one_behind_the_other_without_a_gap) {
    // All are posted at once; in each tick every rank can send one message and receive one.
    const auto bound = timpani::bind("alltoall", "linear", CollectiveArguments{.ranks = 40, .count = 1, .root = 0});
    CHECK(simulate(*bound.algorithm, bound.args, unit_clock()) == 39.0);
}

TEST(at_the_bound_the_oldest_message_is_waited_for_though_a_later_one_has_ended) {
    Algorithm two = in_rounds<1>([](const CollectiveArguments&, int rank, std::int64_t, Steps& steps) {
        const auto part = [](std::int64_t index) { return Region{Buffer::receive, index, 1}; };
        if (rank == 0) {
            steps.send(1, part(0));  // its receiver is ready at 80
            steps.send(2, part(1));
            steps.send(2, part(2));
        } else if (rank == 1) {
            steps.reduce({Buffer::send, 0, 8}, {Buffer::scratch, 0, 8});
            steps.receive(0, part(0));
        } else {
            steps.receive(0, part(1));
            steps.receive(0, part(2));
        }
    });
    two.requests = always<2>;
    CHECK(simulate(two, {.ranks = 3, .count = 8, .root = 0}, hockney(1, 0, 10)) == 82.0);
}

TEST(ranks_that_wait_for_each_other_are_reported) {
    Algorithm ring = *find_algorithm("allgather", "ring");
    ring.requests = always<1>;
    bool by_relation = false;
    try {
        simulate(ring, CollectiveArguments{.ranks = 3, .count = 1, .root = 0}, unit_clock());
    } catch (const std::runtime_error&) {
        by_relation = true;
    }
    CHECK(by_relation);
}
