// Gather and scatter along a tree whose subtrees are consecutive ranks, counted from the root. A rank exchanges the
// blocks of each child's subtree with the child, and all blocks of its subtree with its parent.
//
// binomial  In round k of a gather each rank whose number is an odd multiple of 2ᵏ sends the blocks of the 2ᵏ ranks
//           from itself on to the rank 2ᵏ before it. A scatter does these rounds in reverse order.
// knomial   The same to base k: a rank has up to k − 1 children for each digit.
//
// The root has the blocks in rank order in its buffer; a subtree that passes the last rank wraps around to the front.
// An inner rank keeps the blocks of its subtree in scratch, in rank order from its own on. A leaf has its own in its
// buffer.

#include <algorithm>
#include <array>
#include <vector>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/tree.hpp"

namespace timpani::gather_scatter_tree {
namespace {

/// Where the blocks of the ranks [first, end) counted from the root are in the root's buffer: at most two places.
std::array<Part, 2> blocks_at_root(const CollectiveArguments& args, int first, int end) {
    const int p = args.ranks;
    const auto blocks = [&](int from, int to) -> Part {  // of the ranks [from, to)
        if (from >= to) return {0, 0};
        const auto start = block_of(args, from).first;
        return {start, block_of(args, to - 1).end() - start};
    };
    const int from = args.root + first;
    const int to = args.root + end;
    return {blocks(from, std::min(to, p)), blocks(std::max(from, p) - p, to - p)};
}

/// Elements of the blocks of the ranks [first, end) counted from the root.
std::int64_t block_elements(const CollectiveArguments& args, int first, int end) {
    const auto [front, back] = blocks_at_root(args, first, end);
    return front.count + back.count;
}

/// A gather or a scatter along a k-nomial tree.
class KnomialBlocks {
  public:
    KnomialBlocks(const CollectiveArguments& args, std::int64_t radix, bool gathers)
        : args_(args), tree_{args.ranks, radix}, gathers_(gathers) {}

    /// At least one, in which the root copies its own block.
    [[nodiscard]] std::int64_t rounds() const { return std::max<std::int64_t>(1, tree_.rounds()); }

    void round(int rank, std::int64_t k, Steps& steps) const {
        gathers_ ? gather(rank, k, steps) : scatter(rank, k, steps);
    }

    /// An inner rank has the blocks of its subtree there.
    [[nodiscard]] std::int64_t scratch(int rank) const {
        const int me = relative_rank(args_, rank);
        const bool inner = me > 0 && tree_.end(me) > me + 1;
        return inner ? block_elements(args_, me, tree_.end(me)) : 0;
    }

  private:
    /// A rank that has the blocks of its subtree sends one child the blocks of the child's subtree.
    void scatter(int rank, std::int64_t k, Steps& steps) const {
        const int me = relative_rank(args_, rank);
        const Region own{Buffer::receive, 0, block_of(args_, rank).count};
        if (me == 0 && k == 0) steps.copy(region(Buffer::send, block_of(args_, rank)), own);
        if (me > 0 && tree_.round_of(me) == k) {
            for (const Region& piece : subtree_regions(rank, Buffer::receive, me)) {
                steps.receive(absolute_rank(args_, tree_.parent(me)), piece);
            }
            if (tree_.end(me) > me + 1) steps.copy({Buffer::scratch, 0, own.count}, own);
        }
        const int child = tree_.child(me, k);
        if (child < 0) return;
        for (const Region& piece : subtree_regions(rank, Buffer::send, child)) {
            steps.send(absolute_rank(args_, child), piece);
        }
    }

    /// Does the scatter's rounds in reverse order.
    void gather(int rank, std::int64_t k, Steps& steps) const {
        const int me = relative_rank(args_, rank);
        const Region own{Buffer::send, 0, block_of(args_, rank).count};
        if (k == 0 && me == 0) steps.copy(own, region(Buffer::receive, block_of(args_, rank)));
        if (k == 0 && scratch(rank) > 0) steps.copy(own, {Buffer::scratch, 0, own.count});
        const std::int64_t scatter_round = tree_.rounds() - 1 - k;
        const int child = scatter_round < 0 ? -1 : tree_.child(me, scatter_round);
        if (child > 0) {
            for (const Region& piece : subtree_regions(rank, Buffer::receive, child)) {
                steps.receive(absolute_rank(args_, child), piece);
            }
        }
        if (me == 0 || tree_.round_of(me) != scatter_round) return;
        for (const Region& piece : subtree_regions(rank, Buffer::send, me)) {
            steps.send(absolute_rank(args_, tree_.parent(me)), piece);
        }
    }

    /// Where `rank` has the blocks of the subtree of `subtree_root`, which is itself or one of its children; `buffer`
    /// is its buffer for the collective. If the rank or its peer is the root, the blocks may wrap around the root's
    /// buffer. Then they are in two pieces, one of which may be empty.
    [[nodiscard]] std::array<Region, 2> subtree_regions(int rank, Buffer buffer, int subtree_root) const {
        const int me = relative_rank(args_, rank);
        const auto [front, back] = blocks_at_root(args_, subtree_root, tree_.end(subtree_root));
        if (me == 0) return {region(buffer, front), region(buffer, back)};
        const bool leaf = tree_.end(me) == me + 1;
        const Buffer kept = leaf ? buffer : Buffer::scratch;
        const auto start = block_elements(args_, me, subtree_root);
        const bool meets_root = subtree_root == me && tree_.parent(me) == 0;
        if (meets_root) return {Region{kept, start, front.count}, Region{kept, start + front.count, back.count}};
        return {Region{kept, start, front.count + back.count}, Region{}};
    }

    const CollectiveArguments& args_;
    KnomialTree tree_;
    bool gathers_;
};

/// Traffic of such a gather or scatter, computed from the digits of the ranks to base `radix`. A rank whose lowest
/// nonzero digit is at place value v has a subtree of v ranks. It exchanges blocks with its parent in the same round as
/// all ranks with the same digit at that place. Subtrees without elements send nothing.
struct SubtreeTraffic {
    std::int64_t rounds = 0;
    std::int64_t max_neighbors = 0;
    std::int64_t largest_subtree = 0;

    SubtreeTraffic(const CollectiveArguments& args, std::int64_t radix) {
        std::vector<std::int64_t> neighbors(static_cast<std::size_t>(args.ranks));
        for (std::int64_t place_value = 1; place_value < args.ranks; place_value *= radix) {
            for (std::int64_t first = place_value; first < std::min<std::int64_t>(args.ranks, place_value * radix);
                 first += place_value) {
                bool busy = false;
                for (std::int64_t rank = first; rank < args.ranks; rank += place_value * radix) {
                    const auto end = std::min<std::int64_t>(args.ranks, rank + place_value);
                    const auto elements = block_elements(args, static_cast<int>(rank), static_cast<int>(end));
                    if (elements == 0) continue;
                    busy = true;
                    ++neighbors[static_cast<std::size_t>(rank)];
                    ++neighbors[static_cast<std::size_t>(rank - first)];
                    largest_subtree = std::max(largest_subtree, elements);
                }
                rounds += busy ? 1 : 0;
            }
        }
        max_neighbors = std::ranges::max(neighbors);
    }
};

template <auto radix, bool gathers>
KnomialBlocks blocks(const CollectiveArguments& args) {
    return {args, radix(args), gathers};
}

template <auto radix, bool gathers>
Algorithm along_tree() {
    return {
        .collective = gathers ? "gather" : "scatter",
        .name = "binomial",
        .source = "Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007",
        .cost = "⌈log₂ p⌉ α + (p−1)/p βm, m in all",
        .prepare = prepared_by<blocks<radix, gathers>>,
        .scratch = [](const CollectiveArguments& args, int rank) { return blocks<radix, gathers>(args).scratch(rank); },
        .claims = {.rounds = [](const CollectiveArguments& args) { return SubtreeTraffic(args, radix(args)).rounds; },
                   .max_sent =
                       [](const CollectiveArguments& args) {
                           return gathers ? SubtreeTraffic(args, radix(args)).largest_subtree
                                          : block_elements(args, 1, args.ranks);
                       },
                   .max_neighbors =
                       [](const CollectiveArguments& args) { return SubtreeTraffic(args, radix(args)).max_neighbors; }},
    };
}

template <bool gathers>
Algorithm knomial() {
    Algorithm algorithm = along_tree<parameter<0>, gathers>();
    algorithm.name = "knomial";
    algorithm.source = "Wilkins et al., CLUSTER 2023";
    algorithm.cost = "⌈log_k p⌉ (k−1) α + (p−1)/p βm, k the radix, m in all";
    algorithm.parameters = {kKnomialRadix};
    return algorithm;
}

const RegisterWithV binomial_gather{along_tree<always<2>, true>()};
const RegisterWithV binomial_scatter{along_tree<always<2>, false>()};
const Register knomial_gather{knomial<true>()};
const Register knomial_scatter{knomial<false>()};

}  // namespace
}  // namespace timpani::gather_scatter_tree
