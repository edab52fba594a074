// Reduce along several chains that end at the root, in segments: each rank reduces what the next rank of its chain
// sends with its own elements and sends that on, while it receives the next segment. Chains are consecutive ranks,
// counted from the root; if the operator does not commute, from rank 0, which sends the result to the root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/rank_order.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_reduction.hpp"

namespace timpani::reduce_chain {
namespace {

Segments segments(const Shape& shape) { return Segments::of(shape, shape.parameters[1]); }

TreeReduction<ChainTree> reduction(const Shape& shape) {
    return {ChainTree{shape.ranks, shape.parameters[0]}, segments(shape), shape, reduction_root(shape)};
}

std::int64_t number_of_chains(const Shape& shape) {
    return std::min<std::int64_t>(shape.parameters[0], shape.ranks - 1);
}

std::int64_t busy_rounds(const Shape& shape) {
    if (shape.ranks == 1) return 0;
    const auto longest = (shape.ranks - 2 + number_of_chains(shape)) / number_of_chains(shape);
    return longest + segments(shape).number() - 1 + (forwards_to_root(shape) ? 1 : 0);
}

/// The first rank has the chains' first ranks, another the two beside it in its chain. Where the first rank sends the
/// result to the root, those two are neighbours, too.
std::int64_t most_neighbours(const Shape& shape) {
    const auto chains = static_cast<int>(number_of_chains(shape));
    const std::int64_t most = std::max(chains, shape.ranks - 1 > chains ? 2 : 0);
    for (int i = 0; forwards_to_root(shape) && i < chains; ++i) {
        const auto chain = part_of(shape.ranks - 1, chains, i);  // of the ranks from 1 on
        if (shape.root - 1 <= chain.first || shape.root > chain.end()) continue;
        return std::max<std::int64_t>({most, chains + 1, shape.root == chain.end() ? 2 : 3});
    }
    return most;
}

const Register entry{{
    .collective = "reduce",
    .name = "chain",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(⌈(p−1)/f⌉ + q − 1) f (α + (β + γ) m/q), f chains, q segments",
    .restrictions = {},
    .parameters = {{"fanout", 4, 1, "chains that end at the root", kTrialFanouts},
                   {"segment_bytes", 0, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .rounds = [](const Shape& shape) { return reduction(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { reduction(shape).round(rank, k, steps); },
    .scratch = [](const Shape& shape, int rank) { return reduction(shape).scratch(rank); },
    .claims = {.rounds = busy_rounds,
               .most_sent = [](const Shape& shape) { return shape.ranks > 1 ? shape.count : 0; },
               .most_neighbours = most_neighbours},
}};

}  // namespace
}  // namespace timpani::reduce_chain
