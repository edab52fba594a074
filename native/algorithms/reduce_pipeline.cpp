// Reduce along a chain of all ranks, in segments: each rank reduces what the next one sends with its own elements
// and sends that on, while it receives the next segment. Ranks are counted from the root; if the operator does not
// commute, from rank 0, which sends the result to the root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/rank_order.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_reduction.hpp"

namespace timpani::reduce_pipeline {
namespace {

Segments segments(const Shape& shape) { return Segments::of(shape, shape.parameters[0]); }

TreeReduction<ChainTree> reduction(const Shape& shape) {
    return {ChainTree{shape.ranks, 1}, segments(shape), shape, reduction_root(shape)};
}

const Register entry{{
    .collective = "reduce",
    .name = "pipeline",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(p + q − 2) (α + (β + γ) m/q), q segments",
    .restrictions = {},
    .parameters = {{"segment_bytes", 8192, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .rounds = [](const Shape& shape) { return reduction(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { reduction(shape).round(rank, k, steps); },
    .scratch = [](const Shape& shape, int rank) { return reduction(shape).scratch(rank); },
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t {
                   if (shape.ranks == 1) return 0;
                   return shape.ranks + segments(shape).number() - 2 + (forwards_to_root(shape) ? 1 : 0);
               },
               .most_sent = [](const Shape& shape) { return shape.ranks > 1 ? shape.count : 0; },
               .most_neighbours = [](const Shape& shape) -> std::int64_t {
                   const bool inside = shape.root > 1 && shape.root < shape.ranks - 1;
                   return forwards_to_root(shape) && inside ? 3 : std::min(2, shape.ranks - 1);
               }},
}};

}  // namespace
}  // namespace timpani::reduce_pipeline
