// Broadcast down a binary tree, in segments: each rank sends a segment to its two children while it receives the
// next one.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_bcast.hpp"

namespace timpani::bcast_binary {
namespace {

Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[0]); }

TreeBcast<BinaryTree> broadcast(const CollectiveArguments& args) {
    return {BinaryTree{args.ranks}, segments(args), args};
}

const Register entry{{
    .collective = "bcast",
    .name = "binary",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "2 (⌈log₂(p+1)⌉ + q − 2) (α + βm/q), q segments",
    .restrictions = {},
    .parameters = {{"segment_bytes", 8192, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {"binary_tree"},
    .prepare = prepared_by<broadcast>,
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   return args.ranks == 1 ? 0 : floor_log2(args.ranks) + segments(args).number() - 1;
               },
               .most_sent = [](const CollectiveArguments& args) { return std::min(2, args.ranks - 1) * args.count; },
               .most_neighbours = [](const CollectiveArguments& args) -> std::int64_t {
                   // From 6 ranks on an inner one has two children besides its parent.
                   return args.ranks >= 6 ? 3 : std::min(2, args.ranks - 1);
               }},
}};

}  // namespace
}  // namespace timpani::bcast_binary
