// Broadcast along several chains that start at the root, in segments: the root sends each segment to the first rank
// of every chain, and each rank sends it on to the next one while it receives the segment after it.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_bcast.hpp"

namespace timpani::bcast_chain {
namespace {

ChainTree chains(const Shape& shape) { return {shape.ranks, shape.parameters[0]}; }
Segments segments(const Shape& shape) { return Segments::of(shape, shape.parameters[1]); }

std::int64_t rounds(const Shape& shape) { return tree_bcast_rounds(chains(shape), segments(shape)); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    tree_bcast_round(chains(shape), segments(shape), shape, rank, k, steps);
}

std::int64_t number_of_chains(const Shape& shape) {
    return std::min<std::int64_t>(shape.parameters[0], shape.ranks - 1);
}

const Register entry{{
    .collective = "bcast",
    .name = "chain",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(⌈(p−1)/f⌉ + q − 1) f (α + βm/q), f chains, q segments",
    .restrictions = {},
    .parameters = {{"fanout", 4, 1, "chains that start at the root", kTrialFanouts},
                   {"segment_bytes", 0, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t {
                   if (shape.ranks == 1) return 0;
                   const auto longest = (shape.ranks - 2 + number_of_chains(shape)) / number_of_chains(shape);
                   return longest + segments(shape).number() - 1;
               },
               .most_sent = [](const Shape& shape) { return number_of_chains(shape) * shape.count; },
               .most_neighbours = [](const Shape& shape) -> std::int64_t {
                   const std::int64_t inside = shape.ranks - 1 > number_of_chains(shape) ? 2 : 0;
                   return std::max(number_of_chains(shape), inside);
               }},
}};

}  // namespace
}  // namespace timpani::bcast_chain
