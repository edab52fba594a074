// Reduce up a binary tree, in segments: each rank reduces what its two children send with its own elements and sends
// that to its parent, while it receives the next segment. The ranks of a subtree are not consecutive, so that the
// operator must commute; reduce_in_order_binary.cpp has a tree that keeps rank order.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_reduction.hpp"

namespace timpani::reduce_binary {
namespace {

Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[0]); }

TreeReduction<BinaryTree> reduction(const CollectiveArguments& args) {
    return {BinaryTree{args.ranks}, segments(args), args, args.root};
}

const Register entry{{
    .collective = "reduce",
    .name = "binary",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "2 (⌈log₂(p+1)⌉ + q − 2) (α + (β + γ) m/q), q segments",
    .restrictions = {.commutative = true},
    .parameters = {{"segment_bytes", 0, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .prepare = prepared_by<reduction>,
    .scratch = [](const CollectiveArguments& args, int rank) { return reduction(args).scratch(rank); },
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   return args.ranks == 1 ? 0 : floor_log2(args.ranks) + segments(args).number() - 1;
               },
               .most_sent = [](const CollectiveArguments& args) { return args.ranks > 1 ? args.count : 0; },
               .most_neighbours = [](const CollectiveArguments& args) -> std::int64_t {
                   // From 6 ranks on an inner one has two children besides its parent.
                   return args.ranks >= 6 ? 3 : std::min(2, args.ranks - 1);
               }},
}};

}  // namespace
}  // namespace timpani::reduce_binary
