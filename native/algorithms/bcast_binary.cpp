// Broadcast down a binary tree, in segments: each rank sends a segment to its two children while it receives the
// next one.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_bcast.hpp"

namespace timpani::bcast_binary {
namespace {

Segments segments(const Shape& shape) { return Segments::of(shape, shape.parameters[0]); }

std::int64_t rounds(const Shape& shape) { return tree_bcast_rounds(BinaryTree{shape.ranks}, segments(shape)); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    tree_bcast_round(BinaryTree{shape.ranks}, segments(shape), shape, rank, k, steps);
}

const Register entry{{
    .collective = "bcast",
    .name = "binary",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "2 (⌈log₂(p+1)⌉ + q − 2) (α + βm/q), q segments",
    .restrictions = {},
    .parameters = {{"segment_bytes", 8192, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {"binary_tree"},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t {
                   return shape.ranks == 1 ? 0 : floor_log2(shape.ranks) + segments(shape).number() - 1;
               },
               .most_sent = [](const Shape& shape) { return std::min(2, shape.ranks - 1) * shape.count; },
               .most_neighbours = [](const Shape& shape) -> std::int64_t {
                   // From 6 ranks on an inner one has two children besides its parent.
                   return shape.ranks >= 6 ? 3 : std::min(2, shape.ranks - 1);
               }},
}};

}  // namespace
}  // namespace timpani::bcast_binary
