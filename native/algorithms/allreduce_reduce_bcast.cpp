// Allreduce as a reduce to rank 0 and a broadcast from there along the same binomial tree. Reduces in rank order, so
// that any operator will do.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/knomial_reduction.hpp"
#include "schedule/tree.hpp"

namespace timpani::allreduce_reduce_bcast {
namespace {

std::int64_t rounds(const Shape& shape) { return 1 + 2 * ceil_log2(shape.ranks); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const Region result{Buffer::receive, 0, shape.count};
    const KnomialTree tree{shape.ranks, 2};
    if (shape.ranks == 1) steps.copy({Buffer::send, 0, shape.count}, result);
    if (k <= tree.rounds()) KnomialReduction(shape, 2, 0).round(rank, k, result, 0, steps);
    const std::int64_t down = k - tree.rounds() - 1;
    if (down < 0) return;
    if (rank > 0 && down == tree.round_of(rank)) steps.receive(tree.parent(rank), result);
    if (down > tree.round_of(rank)) {
        if (const int child = tree.child(rank, down); child >= 0) steps.send(child, result);
    }
}

const Register entry{{
    .collective = "allreduce",
    .name = "reduce_bcast",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "2⌈log₂ p⌉ (α + βm) + ⌈log₂ p⌉ γm",
    .restrictions = {},
    .parameters = {},
    .aliases = {"nonoverlapping"},
    .rounds = rounds,
    .round = round,
    .scratch =
        [](const Shape& shape, int rank) {
            return std::min<std::int64_t>(2, KnomialReduction(shape, 2, 0).children(rank)) * shape.count;
        },
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t { return std::int64_t{2} * ceil_log2(shape.ranks); },
               .most_sent = [](const Shape& shape) { return ceil_log2(shape.ranks) * shape.count; },
               .most_neighbours = [](const Shape& shape) -> std::int64_t { return ceil_log2(shape.ranks); }},
}};

}  // namespace
}  // namespace timpani::allreduce_reduce_bcast
