// Reduce up a binary tree in rank order, in segments. A subtree is a range of consecutive ranks, and its last rank is
// the parent. The parent's children are the last ranks of the two halves of the rest. It reduces their results, then
// its own elements. The last rank of all sends each segment of the result to the root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/tree_reduction.hpp"

namespace timpani::reduce_in_order_binary {
namespace {

/// Ranks are counted down from the last, which is 0 and the root of the tree. A subtree is a range of consecutive ranks
/// that starts with its root. The nearer half of the rest, which may be one shorter, is the first child's subtree, and
/// the other half the second child's.
struct InOrderTree {
    int ranks;

    struct Subtree {
        int length;
        int depth;
        int parent;
    };
    /// The subtree with the root `me`.
    [[nodiscard]] Subtree subtree_of(int me) const {
        Subtree subtree{ranks, 0, -1};
        for (int root = 0; root != me; ++subtree.depth) {
            const int farther = subtree.length / 2;
            const int second = root + subtree.length - farther;
            subtree.parent = root;
            subtree.length = me < second ? subtree.length - 1 - farther : farther;
            root = me < second ? root + 1 : second;
        }
        return subtree;
    }
    [[nodiscard]] int height() const { return floor_log2(ranks); }
    [[nodiscard]] int depth(int me) const { return subtree_of(me).depth; }
    [[nodiscard]] int parent(int me) const { return subtree_of(me).parent; }
    [[nodiscard]] int child(int me, int index) const {
        const int length = subtree_of(me).length;
        const int second = me + length - length / 2;
        if (index == 0 && length > 1) return length > 2 ? me + 1 : second;
        return index == 1 && length > 2 ? second : -1;
    }
};

Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[0]); }

TreeReduction<InOrderTree> reduction(const CollectiveArguments& args) {
    return {InOrderTree{args.ranks}, segments(args), args, args.ranks - 1, true};
}

std::int64_t busy_rounds(const CollectiveArguments& args) {
    if (args.ranks == 1) return 0;
    return floor_log2(args.ranks) + segments(args).number() - (args.root == args.ranks - 1 ? 1 : 0);
}

/// Inner ranks with two children have three neighbors. The last rank and the root become neighbors when the result is
/// sent, unless the root is a child of the last rank anyway.
std::int64_t max_neighbors(const CollectiveArguments& args) {
    const int p = args.ranks;
    std::int64_t maximum = p >= 6 ? 3 : std::min(2, p - 1);
    int last = p - 1;
    int length = p;
    int depth = 0;
    while (last != args.root) {                             // down to the subtree of the root
        const int middle = last - length + 1 + length / 2;  // where the second half starts
        length = args.root < middle ? length / 2 : length - 1 - length / 2;
        last = args.root < middle ? middle - 1 : last - 1;
        ++depth;
    }
    if (depth > 1) maximum = std::max<std::int64_t>({maximum, 3, std::min(2, length - 1) + 2});
    return maximum;
}

const Register entry{{
    .collective = "reduce",
    .name = "in_order_binary",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007; Open MPI, coll/base",
    .cost = "(2 (⌈log₂(p+1)⌉ + q − 2) + 1) (α + (β + γ) m/q), q segments",
    .parameters = {segment_bytes_parameter(0)},
    .aliases = {"in-order_binary"},
    .prepare = prepared_by<reduction>,
    .scratch = [](const CollectiveArguments& args, int rank) { return reduction(args).scratch(rank); },
    .claims = {.rounds = busy_rounds, .max_sent = message_once, .max_neighbors = max_neighbors},
}};

}  // namespace
}  // namespace timpani::reduce_in_order_binary
