// Broadcast, reduction, gather and scatter along the tree of a hierarchy. Each variant is a row that names a tree for
// each level. Data that enters or leaves a node crosses its link once.
//
// two_level         a binomial tree over the leaders of all nodes, and one over the ranks of each node
// two_level_linear  the root exchanges messages with all leaders itself, all started at once
// two_level_chain   in segments along a chain of the leaders, group after group, and a binary tree on each node; the
//                   message crosses each node's link at most once in each direction, all links at the same time
// three_level       a binomial tree over the leaders of all groups, one over those of each group's nodes, and one over
//                   the ranks of each node

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/topology_tree.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_reduction.hpp"

namespace timpani::hierarchical_trees {
namespace {

/// Gather and scatter along the tree of a hierarchy. A rank and its parent exchange the blocks of the rank's subtree:
/// its own first, then the blocks of one child's subtree after another. An inner rank keeps them in scratch in that
/// order. The root has them in its buffer in rank order. If a child's subtree is not a range of consecutive ranks, the
/// root copies its blocks to or from scratch.
class BlocksAlongTree {
  public:
    /// `up`: a gather, else a scatter.
    BlocksAlongTree(const CollectiveArguments& args, const TreeKinds& kinds, bool up)
        : args_(args), tree_(args, kinds), up_(up) {}

    [[nodiscard]] std::int64_t rounds() const { return tree_.height() + 1; }

    /// A rank receives the blocks of its subtree in the round before it sends them.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const std::int64_t round_sent = this->round_sent(rank);
        if (k != round_sent - 1 && k != round_sent) return;
        const Subtree mine = subtree(rank);
        const Region own{up_ ? Buffer::send : Buffer::receive, 0, block_of(args_, rank).count};
        if (k == round_sent) {
            up_ ? gather(rank, mine, own, steps) : scatter(rank, mine, own, steps);
        } else if (up_) {
            for (const Branch& branch : mine.branches) steps.receive(branch.child, branch.place);
        } else {
            steps.receive(mine.parent, mine.branches.empty() ? own : Region{Buffer::scratch, 0, mine.elements});
        }
    }

    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const {
        const std::int64_t last = round_sent(rank);
        return k <= last ? std::max(k, last - 1) : rounds();
    }

    [[nodiscard]] std::int64_t scratch(int rank) const {
        const Subtree mine = subtree(rank);
        if (rank != args_.root) return mine.branches.empty() ? 0 : mine.elements;
        std::int64_t maximum = 0;
        for (const Branch& branch : mine.branches) {
            if (branch.place.buffer == Buffer::scratch) maximum = branch.place.end();
        }
        return maximum;
    }

    // Claims for blocks of equal size.
    [[nodiscard]] std::int64_t busy_rounds() const { return tree_.height(); }
    [[nodiscard]] std::int64_t max_neighbors() const { return tree_.max_neighbors(); }
    [[nodiscard]] std::int64_t max_sent() const {
        if (!up_) return (args_.ranks - 1) * args_.count;
        std::int64_t maximum = 0;
        for (int me = 1; me < args_.ranks; ++me) maximum = std::max(maximum, elements_below(me));
        return maximum;
    }
    [[nodiscard]] std::int64_t max_leaving_node() const {
        return tree_.max_leaving_node(up_, [this](int me) { return elements_below(me); });
    }

  private:
    struct Branch {
        int child;
        std::vector<int> ranks;  // of the child's subtree, in the order in which their blocks are sent
        Region place;
    };
    struct Subtree {
        int me;
        int parent;
        std::vector<Branch> branches;
        std::int64_t elements;
    };

    /// The ranks of the subtree of `me`, counted from the root, in the order in which their blocks are sent.
    [[nodiscard]] std::vector<int> members(int me) const {
        std::vector<int> all{me};
        for (int i = 0, child = 0; (child = tree_.child(me, i)) >= 0; ++i) {
            const auto below = members(child);
            all.insert(all.end(), below.begin(), below.end());
        }
        return all;
    }

    [[nodiscard]] Subtree subtree(int rank) const {
        const int me = relative_rank(args_, rank);
        Subtree all{me, me == 0 ? -1 : absolute_rank(args_, tree_.parent(me)), {}, block_of(args_, rank).count};
        std::int64_t in_scratch = rank == args_.root ? 0 : all.elements;
        for (int i = 0, child = 0; (child = tree_.child(me, i)) >= 0; ++i) {
            Branch branch{absolute_rank(args_, child), members(child), {}};
            std::int64_t elements = 0;
            bool consecutive = rank == args_.root;
            for (std::size_t j = 0; j < branch.ranks.size(); ++j) {
                branch.ranks[j] = absolute_rank(args_, branch.ranks[j]);
                elements += block_of(args_, branch.ranks[j]).count;
                consecutive = consecutive && (j == 0 || branch.ranks[j] == branch.ranks[j - 1] + 1);
            }
            if (consecutive) {
                branch.place = {at_root(), block_of(args_, branch.ranks.front()).first, elements};
            } else {
                branch.place = {Buffer::scratch, in_scratch, elements};
                in_scratch += elements;
            }
            all.elements += elements;
            all.branches.push_back(std::move(branch));
        }
        return all;
    }

    /// Where the root has the blocks of a branch in its buffer and in scratch: one pair for each range of consecutive
    /// ranks. Empty if they don't pass through scratch.
    [[nodiscard]] std::vector<std::pair<Part, Region>> moves(const Branch& branch) const {
        std::vector<std::pair<Part, Region>> all;
        if (branch.place.buffer != Buffer::scratch) return all;
        std::int64_t next = branch.place.first;
        for (std::size_t i = 0; i < branch.ranks.size(); ++i) {
            const Part block = block_of(args_, branch.ranks[i]);
            if (i > 0 && branch.ranks[i] == branch.ranks[i - 1] + 1) {
                all.back().first.count += block.count;
                all.back().second.count += block.count;
            } else {
                all.push_back({block, {Buffer::scratch, next, block.count}});
            }
            next += block.count;
        }
        return all;
    }

    void gather(int rank, const Subtree& mine, const Region& own, Steps& steps) const {
        if (rank == args_.root) {
            steps.copy(own, region(Buffer::receive, block_of(args_, rank)));
            for (const Branch& branch : mine.branches) {
                for (const auto& [there, inside] : moves(branch)) steps.copy(inside, region(Buffer::receive, there));
            }
        } else if (mine.branches.empty()) {
            steps.send(mine.parent, own);
        } else {
            steps.copy(own, {Buffer::scratch, 0, own.count});
            steps.send(mine.parent, {Buffer::scratch, 0, mine.elements});
        }
    }

    void scatter(int rank, const Subtree& mine, const Region& own, Steps& steps) const {
        if (rank == args_.root) {
            for (const Branch& branch : mine.branches) {
                for (const auto& [there, inside] : moves(branch)) steps.copy(region(Buffer::send, there), inside);
            }
        }
        for (const Branch& branch : mine.branches) steps.send(branch.child, branch.place);
        if (rank == args_.root) {
            steps.copy(region(Buffer::send, block_of(args_, rank)), own);
        } else if (!mine.branches.empty()) {
            steps.copy({Buffer::scratch, 0, own.count}, own);
        }
    }

    /// The round in which a rank sends blocks to its parent, or to its children.
    [[nodiscard]] std::int64_t round_sent(int rank) const {
        const int depth = tree_.depth(relative_rank(args_, rank));
        return up_ ? tree_.height() - depth : depth;
    }
    /// The root's buffer for the gathered or scattered blocks.
    [[nodiscard]] Buffer at_root() const { return up_ ? Buffer::receive : Buffer::send; }
    /// Elements of the subtree of `me` if all blocks are equal.
    [[nodiscard]] std::int64_t elements_below(int me) const {
        return static_cast<std::int64_t>(members(me).size()) * args_.count;
    }

    const CollectiveArguments& args_;
    TopologyTree tree_;
    bool up_;
};

/// The functions that the algorithms register, with one tree kind per level.
template <bool up, const TreeKinds& kinds>
struct HierarchicalBlocks {
    static BlocksAlongTree blocks(const CollectiveArguments& args) { return {args, kinds, up}; }
    static constexpr auto prepare = prepared_by<blocks>;
    static std::int64_t scratch(const CollectiveArguments& args, int rank) { return blocks(args).scratch(rank); }

    static constexpr Claims claims{
        .rounds = [](const CollectiveArguments& args) { return blocks(args).busy_rounds(); },
        .max_sent = [](const CollectiveArguments& args) { return blocks(args).max_sent(); },
        .max_neighbors = [](const CollectiveArguments& args) { return blocks(args).max_neighbors(); },
        .max_leaving_node = [](const CollectiveArguments& args) { return blocks(args).max_leaving_node(); }};
};

// Pipelined broadcast and reduction along the tree of a hierarchy: the functions that their algorithms register, for
// one tree kind per level. Parameter 0 is segment_bytes.

/// Common to both directions.
template <const TreeKinds& kinds>
struct HierarchicalTree {
    static Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[0]); }
    static TopologyTree tree(const CollectiveArguments& args) { return {args, kinds}; }

    static std::int64_t busy_rounds(const CollectiveArguments& args) {
        return args.ranks == 1 ? 0 : tree(args).height() + segments(args).number() - 1;
    }
    static std::int64_t max_neighbors(const CollectiveArguments& args) { return tree(args).max_neighbors(); }
};

template <const TreeKinds& kinds>
struct HierarchicalBroadcast : HierarchicalTree<kinds> {
    using Base = HierarchicalTree<kinds>;

    static TreeBcast<TopologyTree> broadcast(const CollectiveArguments& args) {
        return {Base::tree(args), Base::segments(args), args};
    }
    static constexpr auto prepare = prepared_by<broadcast>;
    static constexpr decltype(Algorithm::scratch) scratch = nullptr;

    static constexpr Claims claims{
        .rounds = Base::busy_rounds,
        .max_sent = [](const CollectiveArguments& args) { return Base::tree(args).max_children() * args.count; },
        .max_neighbors = Base::max_neighbors,
        .max_leaving_node =
            [](const CollectiveArguments& args) {
                return Base::tree(args).max_leaving_node(false, [&](int) { return args.count; });
            }};
};

template <const TreeKinds& kinds>
struct HierarchicalReduction : HierarchicalTree<kinds> {
    using Base = HierarchicalTree<kinds>;

    static TreeReduction<TopologyTree> reduction(const CollectiveArguments& args) {
        return {Base::tree(args), Base::segments(args), args, args.root};
    }
    static constexpr auto prepare = prepared_by<reduction>;
    static std::int64_t scratch(const CollectiveArguments& args, int rank) { return reduction(args).scratch(rank); }

    static constexpr Claims claims{.rounds = Base::busy_rounds,
                                   .max_sent = message_once,
                                   .max_neighbors = Base::max_neighbors,
                                   .max_leaving_node = message_to_other_nodes};
};

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
