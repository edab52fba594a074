// Broadcast, reduction, gather and scatter along the tree of a hierarchy. Each variant is a row that names a tree for
// each level. Data that enters or leaves a node crosses its link once.
//
// two_level         a binomial tree over the leaders of all nodes, and one over the ranks of each node
// two_level_linear  the root exchanges messages with all leaders itself, all started at once
// two_level_chain   in segments along a chain of the leaders, group after group, and a binary tree on each node; the
//                   message crosses each node's link at most once in each direction, all links at the same time
// three_level       a binomial tree over the leaders of all groups, one over those of each group's nodes, and one over
//                   the ranks of each node

#include <array>
#include <vector>

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"
#include "schedule/patterns/hierarchical_gather_scatter.hpp"

namespace timpani::hierarchical_trees {
namespace {

constexpr std::string_view kKaronis = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000";
constexpr std::string_view kWorringen = "Worringen, LCN 2003";

struct Variant {
    std::string_view name;
    std::string_view alias;
    std::string_view source;
    const TreeKinds& kinds;
};

constexpr Variant kTwoLevel{"two_level", "type_2", kKaronis, kTwoLevels};
constexpr Variant kTwoLevelLinear{"two_level_linear", "type_3", kKaronis, kRootToAllNodes};
constexpr Variant kTwoLevelChain{"two_level_chain", "", kWorringen, kChainOfNodes};
constexpr Variant kThreeLevel{"three_level", "type_1", kKaronis, kThreeLevels};

/// The operator of a reduction must commute.
template <class Functions>
Algorithm along_tree(std::string_view collective, const Variant& variant, std::string_view cost,
                     const std::vector<Parameter>& parameters = {}) {
    return {
        .collective = collective,
        .name = variant.name,
        .source = variant.source,
        .cost = cost,
        .restrictions = {.commutative = collective == "reduce", .topology = true},
        .parameters = parameters,
        .aliases = variant.alias.empty() ? std::vector<std::string_view>{} : std::vector{variant.alias},
        .prepare = Functions::prepare,
        .scratch = Functions::scratch,
        .claims = Functions::claims,
    };
}

template <const Variant& variant>
Register bcast(std::string_view cost, std::int64_t segment_bytes = 0) {
    using Functions = HierarchicalBroadcast<variant.kinds>;
    return Register{along_tree<Functions>("bcast", variant, cost, {segment_bytes_parameter(segment_bytes)})};
}

template <const Variant& variant>
Register reduce(std::string_view cost, std::int64_t segment_bytes = 0) {
    using Functions = HierarchicalReduction<variant.kinds>;
    return Register{along_tree<Functions>("reduce", variant, cost, {segment_bytes_parameter(segment_bytes)})};
}

template <const Variant& variant>
std::array<RegisterWithV, 2> gather_scatter(std::string_view cost) {
    return {RegisterWithV{along_tree<HierarchicalBlocks<true, variant.kinds>>("gather", variant, cost)},
            RegisterWithV{along_tree<HierarchicalBlocks<false, variant.kinds>>("scatter", variant, cost)}};
}

// In costs: g groups, n nodes, p ranks, q segments; m is the message, or all blocks together.
[[maybe_unused]] const std::array bcasts{
    bcast<kTwoLevel>("(⌈log₂ n⌉ + ⌈log₂ p/n⌉) (α + βm), n nodes"),
    bcast<kTwoLevelLinear>("(n − 1 + ⌈log₂ p/n⌉) (α + βm), n nodes"),
    bcast<kTwoLevelChain>("(n + log₂ p/n + q − 2) (α + βm/q), n nodes, q segments", 32768),
    bcast<kThreeLevel>("(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) (α + βm), g groups, n nodes"),
};
[[maybe_unused]] const std::array reductions{
    reduce<kTwoLevel>("(⌈log₂ n⌉ + ⌈log₂ p/n⌉) (α + (β + γ) m), n nodes"),
    reduce<kTwoLevelChain>("(n + log₂ p/n + q − 2) (α + (β + γ) m/q), n nodes, q segments", 32768),
    reduce<kThreeLevel>("(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) (α + (β + γ) m), g groups, n nodes"),
};
[[maybe_unused]] const std::array gathers_and_scatters{
    gather_scatter<kTwoLevel>("(⌈log₂ n⌉ + ⌈log₂ p/n⌉) α + 2 (p−1)/p βm, m in all, n nodes"),
    gather_scatter<kTwoLevelLinear>("(n − 1 + ⌈log₂ p/n⌉) α + 2 (p−1)/p βm, m in all, n nodes"),
    gather_scatter<kThreeLevel>("(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) α + 3 (p−1)/p βm, m in all, g groups, n nodes"),
};

}  // namespace
}  // namespace timpani::hierarchical_trees
