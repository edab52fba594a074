// Broadcast down a tree and reduction up a tree, in segments: a rank forwards one segment while it receives the next.
//
// binary    two children per rank. The ranks of a subtree are not consecutive, so the operator of a reduction must
//           commute; reduce_in_order_binary.cpp has a tree that keeps rank order
// chain     several chains of consecutive ranks that start, or end, at the root
// pipeline  one chain of all ranks
//
// Ranks are counted from the root. A reduction along chains whose operator does not commute counts them from rank 0,
// which sends the result to the root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/rank_order.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_reduction.hpp"

namespace timpani::pipelined_trees {
namespace {

constexpr std::string_view kSource = "Pješivac-Grbović et al., Cluster Computing 2007";

/// Two chains by default. On 3 ranks they would be the linear algorithm, so the default is one there.
std::int64_t number_of_chains(const CollectiveArguments& args) {
    const std::int64_t asked = args.parameters[0];
    return asked != 0 ? asked : args.ranks > 3 ? 2 : 1;
}

Parameter number_of_chains_at_the_root() {
    return {"fanout", 0, 0, "chains at the root; 0: two, on up to 3 ranks one", kTrialFanouts};
}

/// The segments whose length parameter `index` sets.
template <std::size_t index>
Segments segments(const CollectiveArguments& args) {
    return Segments::of(args, args.parameters[index]);
}

struct Binary {
    static Segments segments(const CollectiveArguments& args) { return pipelined_trees::segments<0>(args); }
    static BinaryTree tree(const CollectiveArguments& args) { return {args.ranks}; }
    static int reduction_root(const CollectiveArguments& args) { return args.root; }
    static std::int64_t busy_rounds(const CollectiveArguments& args) {
        return args.ranks == 1 ? 0 : floor_log2(args.ranks) + segments(args).number() - 1;
    }
    /// With 6 ranks or more, some inner rank has two children and a parent.
    static std::int64_t max_neighbors(const CollectiveArguments& args) {
        return args.ranks >= 6 ? 3 : ring_neighbors(args);
    }
    static std::int64_t max_children(const CollectiveArguments& args) { return ring_neighbors(args); }
    static constexpr auto max_neighbors_of_reduction = max_neighbors;
};

/// Parameter `fanout` sets the number of chains, parameter `index` the length of segments.
template <auto fanout, std::size_t index>
struct Chains {
    static Segments segments(const CollectiveArguments& args) { return pipelined_trees::segments<index>(args); }
    static ChainTree tree(const CollectiveArguments& args) { return {args.ranks, fanout(args)}; }
    static int reduction_root(const CollectiveArguments& args) { return timpani::reduction_root(args); }

    static std::int64_t busy_rounds(const CollectiveArguments& args) {
        return args.ranks == 1 ? 0 : tree(args).height() + segments(args).number() - 1;
    }
    static std::int64_t max_children(const CollectiveArguments& args) { return tree(args).chains(); }
    /// The first rank's neighbors are the first rank of each chain; other ranks have two neighbors in their chain.
    static std::int64_t max_neighbors(const CollectiveArguments& args) {
        const std::int64_t chains = max_children(args);
        return std::max<std::int64_t>(chains, args.ranks - 1 > chains ? 2 : 0);
    }
    /// If the first rank sends the result to the root, these two are neighbors, too.
    static std::int64_t max_neighbors_of_reduction(const CollectiveArguments& args) {
        const int chains = tree(args).chains();
        for (int i = 0; forwards_to_root(args) && i < chains; ++i) {
            const auto chain = part_of(args.ranks - 1, chains, i);  // of the ranks from 1 on
            if (args.root - 1 <= chain.first || args.root > chain.end()) continue;
            return std::max<std::int64_t>({max_neighbors(args), chains + 1, args.root == chain.end() ? 2 : 3});
        }
        return max_neighbors(args);
    }
};

using Chain = Chains<number_of_chains, 1>;
using Pipeline = Chains<always<1>, 0>;

struct Variant {
    std::string_view name;
    std::vector<std::string_view> aliases;
    std::string_view cost;
    std::vector<Parameter> parameters;
};

template <class Shape>
Register bcast(const Variant& variant) {
    constexpr auto broadcast = [](const CollectiveArguments& args) {
        return TreeBcast(Shape::tree(args), Shape::segments(args), args);
    };
    return Register{{
        .collective = "bcast",
        .name = variant.name,
        .source = kSource,
        .cost = variant.cost,
        .parameters = variant.parameters,
        .aliases = variant.aliases,
        .prepare = prepared_by<broadcast>,
        .claims = {.rounds = Shape::busy_rounds,
                   .max_sent = [](const CollectiveArguments& args) { return Shape::max_children(args) * args.count; },
                   .max_neighbors = Shape::max_neighbors},
    }};
}

template <class Shape>
auto reduction(const CollectiveArguments& args) {
    return TreeReduction(Shape::tree(args), Shape::segments(args), args, Shape::reduction_root(args));
}

template <class Shape>
Register reduce(const Variant& variant, const Restrictions& restrictions = {}) {
    return Register{{
        .collective = "reduce",
        .name = variant.name,
        .source = kSource,
        .cost = variant.cost,
        .restrictions = restrictions,
        .parameters = variant.parameters,
        .aliases = variant.aliases,
        .prepare = prepared_by<reduction<Shape>>,
        .scratch = [](const CollectiveArguments& args, int rank) { return reduction<Shape>(args).scratch(rank); },
        .claims = {.rounds =
                       [](const CollectiveArguments& args) {
                           const bool forwards = Shape::reduction_root(args) != args.root;
                           return Shape::busy_rounds(args) + (forwards ? 1 : 0);
                       },
                   .max_sent = message_once,
                   .max_neighbors = Shape::max_neighbors_of_reduction},
    }};
}

// In costs: p ranks, q segments, f chains.
const Register binary_bcast = bcast<Binary>(
    {"binary", {"binary_tree"}, "2 (⌈log₂(p+1)⌉ + q − 2) (α + βm/q), q segments", {segment_bytes_parameter(8192)}});
const Register chain_bcast = bcast<Chain>({"chain",
                                           {},
                                           "(⌈(p−1)/f⌉ + q − 1) f (α + βm/q), f chains, q segments",
                                           {number_of_chains_at_the_root(), segment_bytes_parameter(0)}});
const Register pipeline_bcast =
    bcast<Pipeline>({"pipeline", {}, "(p + q − 2) (α + βm/q), q segments", {segment_bytes_parameter(8192)}});
const Register binary_reduce = reduce<Binary>(
    {"binary", {}, "2 (⌈log₂(p+1)⌉ + q − 2) (α + (β + γ) m/q), q segments", {segment_bytes_parameter(0)}},
    {.commutative = true});
const Register chain_reduce = reduce<Chain>({"chain",
                                             {},
                                             "(⌈(p−1)/f⌉ + q − 1) f (α + (β + γ) m/q), f chains, q segments",
                                             {number_of_chains_at_the_root(), segment_bytes_parameter(0)}});
const Register pipeline_reduce =
    reduce<Pipeline>({"pipeline", {}, "(p + q − 2) (α + (β + γ) m/q), q segments", {segment_bytes_parameter(8192)}});

}  // namespace
}  // namespace timpani::pipelined_trees
