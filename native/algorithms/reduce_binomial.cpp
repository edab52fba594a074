// Reduce along a binomial tree: in round k each rank with bit k hands what it has to the one without, which puts it
// behind its own. Ranks count from the root; but from rank 0 if the operator does not commute, which keeps their order,
// and the result is passed on to the root.

#include "schedule/algorithm.hpp"
#include "schedule/knomial_reduction.hpp"
#include "schedule/rank_order.hpp"

namespace timpani::reduce_binomial {
namespace {

const Register entry{{
    .collective = "reduce",
    .name = "binomial",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "⌈log₂ p⌉ (α + βm + γm); α + βm more to keep order at a root other than 0",
    .restrictions = {},
    .parameters = {},
    .aliases = {},
    .rounds = [](const Shape& shape) { return knomial_rounds(shape, 2); },
    .round = [](const Shape& shape, int rank, std::int64_t k,
                Steps& steps) { knomial_round(shape, 2, rank, k, steps); },
    .scratch = [](const Shape& shape, int rank) { return knomial_scratch(shape, 2, rank); },
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t {
                   return ceil_log2(shape.ranks) + (forwards_to_root(shape) ? 1 : 0);
               },
               .most_sent = [](const Shape& shape) { return shape.ranks > 1 ? shape.count : 0; },
               .most_neighbours = [](const Shape& shape) -> std::int64_t {
                   return ceil_log2(shape.ranks) + (forwards_to_root(shape) && !is_power_of_two(shape.root) ? 1 : 0);
               }},
}};

}  // namespace
}  // namespace timpani::reduce_binomial
