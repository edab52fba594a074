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

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"
#include "schedule/patterns/hierarchical_gather_scatter.hpp"

namespace timpani::hierarchical_trees {
namespace {

constexpr std::string_view kKaronis = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000";
constexpr std::string_view kWorringen = "Worringen, LCN 2003";

struct Variant {
    std::string_view name;
    std::vector<std::string_view> aliases;
    std::string_view source;
    std::string_view cost;
};

template <const TreeKinds& kinds>
Register bcast(const Variant& variant, std::int64_t segment_bytes = 0) {
    return Register{{
        .collective = "bcast",
        .name = variant.name,
        .source = variant.source,
        .cost = variant.cost,
        .restrictions = {.topology = true},
        .parameters = {segment_bytes_parameter(segment_bytes)},
        .aliases = variant.aliases,
        .prepare = HierarchicalBroadcast<kinds>::prepare,
        .claims = HierarchicalBroadcast<kinds>::claims,
    }};
}

/// The operator must commute.
template <const TreeKinds& kinds>
Register reduce(const Variant& variant, std::int64_t segment_bytes = 0) {
    return Register{{
        .collective = "reduce",
        .name = variant.name,
        .source = variant.source,
        .cost = variant.cost,
        .restrictions = {.commutative = true, .topology = true},
        .parameters = {segment_bytes_parameter(segment_bytes)},
        .aliases = variant.aliases,
        .prepare = HierarchicalReduction<kinds>::prepare,
        .scratch = HierarchicalReduction<kinds>::scratch,
        .claims = HierarchicalReduction<kinds>::claims,
    }};
}

template <class Blocks>
Register move_blocks(std::string_view collective, const Variant& variant) {
    return Register{{
        .collective = collective,
        .name = variant.name,
        .source = variant.source,
        .cost = variant.cost,
        .restrictions = {.topology = true},
        .aliases = variant.aliases,
        .prepare = Blocks::prepare,
        .scratch = Blocks::scratch,
        .claims = Blocks::claims,
    }};
}

/// Both directions, with equal blocks and with blocks of different sizes.
template <const TreeKinds& kinds>
std::array<Register, 4> gather_scatter(const Variant& variant) {
    using Gather = HierarchicalBlocks<GatherAlongTree, kinds>;
    using Scatter = HierarchicalBlocks<ScatterAlongTree, kinds>;
    return {move_blocks<Gather>("gather", variant), move_blocks<Gather>("gatherv", variant),
            move_blocks<Scatter>("scatter", variant), move_blocks<Scatter>("scatterv", variant)};
}

// In costs: g groups, n nodes, p ranks, q segments; m is the message, or all blocks together.
[[maybe_unused]] const std::array bcasts{
    bcast<kTwoLevels>({"two_level", {"type_2"}, kKaronis, "(⌈log₂ n⌉ + ⌈log₂ p/n⌉) (α + βm), n nodes"}),
    bcast<kRootToAllNodes>({"two_level_linear", {"type_3"}, kKaronis, "(n − 1 + ⌈log₂ p/n⌉) (α + βm), n nodes"}),
    bcast<kChainOfNodes>({"two_level_chain", {}, kWorringen, "(n + log₂ p/n + q − 2) (α + βm/q), n nodes, q segments"},
                         32768),
    bcast<kThreeLevels>(
        {"three_level", {"type_1"}, kKaronis, "(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) (α + βm), g groups, n nodes"}),
};
[[maybe_unused]] const std::array reductions{
    reduce<kTwoLevels>({"two_level", {"type_2"}, kKaronis, "(⌈log₂ n⌉ + ⌈log₂ p/n⌉) (α + (β + γ) m), n nodes"}),
    reduce<kChainOfNodes>(
        {"two_level_chain", {}, kWorringen, "(n + log₂ p/n + q − 2) (α + (β + γ) m/q), n nodes, q segments"}, 32768),
    reduce<kThreeLevels>({"three_level",
                          {"type_1"},
                          kKaronis,
                          "(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) (α + (β + γ) m), g groups, n nodes"}),
};
[[maybe_unused]] const std::array gathers_and_scatters{
    gather_scatter<kTwoLevels>(
        {"two_level", {"type_2"}, kKaronis, "(⌈log₂ n⌉ + ⌈log₂ p/n⌉) α + 2 (p−1)/p βm, m in all, n nodes"}),
    gather_scatter<kRootToAllNodes>(
        {"two_level_linear", {"type_3"}, kKaronis, "(n − 1 + ⌈log₂ p/n⌉) α + 2 (p−1)/p βm, m in all, n nodes"}),
    gather_scatter<kThreeLevels>(
        {"three_level",
         {"type_1"},
         kKaronis,
         "(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) α + 3 (p−1)/p βm, m in all, g groups, n nodes"}),
};

}  // namespace
}  // namespace timpani::hierarchical_trees
