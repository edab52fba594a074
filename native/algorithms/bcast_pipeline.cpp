// Broadcast along a chain of all ranks, in segments: each rank sends a segment on to the next rank while it receives
// the segment after it.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_bcast.hpp"

namespace timpani::bcast_pipeline {
namespace {

Segments segments(const Shape& shape) { return Segments::of(shape, shape.parameters[0]); }

std::int64_t rounds(const Shape& shape) { return tree_bcast_rounds(ChainTree{shape.ranks, 1}, segments(shape)); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    tree_bcast_round(ChainTree{shape.ranks, 1}, segments(shape), shape, rank, k, steps);
}

const Register entry{{
    .collective = "bcast",
    .name = "pipeline",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(p + q − 2) (α + βm/q), q segments",
    .restrictions = {},
    .parameters = {{"segment_bytes", 8192, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t {
                   return shape.ranks == 1 ? 0 : shape.ranks + segments(shape).number() - 2;
               },
               .most_sent = [](const Shape& shape) { return shape.ranks == 1 ? 0 : shape.count; },
               .most_neighbours = [](const Shape& shape) -> std::int64_t { return std::min(2, shape.ranks - 1); }},
}};

}  // namespace
}  // namespace timpani::bcast_pipeline
