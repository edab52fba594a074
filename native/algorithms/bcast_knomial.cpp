// Broadcast down a k-nomial tree: each rank that has the message sends it to one child a round, those with the
// largest subtrees first.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/tree.hpp"

namespace timpani::bcast_knomial {
namespace {

KnomialTree tree(const Shape& shape) { return {shape.ranks, shape.parameters[0]}; }

std::int64_t rounds(const Shape& shape) { return tree(shape).rounds(); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const int me = relative_rank(shape, rank);
    const Region whole{data_of(shape, rank), 0, shape.count};
    if (tree(shape).round_of(me) == k) steps.receive(absolute_rank(shape, tree(shape).parent(me)), whole);
    const int child = tree(shape).child(me, k);
    if (child > 0) steps.send(absolute_rank(shape, child), whole);
}

/// The root's children: radix − 1 for each digit of p − 1, but for the highest as many as it says.
std::int64_t children_of_root(const Shape& shape) {
    std::int64_t children = 0;
    for (std::int64_t left = shape.ranks - 1; left > 0; left /= shape.parameters[0]) {
        children += std::min(left, shape.parameters[0] - 1);
    }
    return children;
}

const Register entry{{
    .collective = "bcast",
    .name = "knomial",
    .source = "Wilkins et al., CLUSTER 2023",
    .cost = "⌈log_k p⌉ (k−1) (α + βm), k the radix",
    .restrictions = {},
    .parameters = {{"radix", 4, 2, "base of the digits, one more than a rank's children for each", kTrialRadices}},
    .aliases = {},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = children_of_root,
               .most_sent = [](const Shape& shape) { return children_of_root(shape) * shape.count; },
               .most_neighbours = children_of_root},
}};

}  // namespace
}  // namespace timpani::bcast_knomial
