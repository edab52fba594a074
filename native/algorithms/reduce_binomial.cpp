// Reduce along a binomial tree: in round k each rank with bit k set sends its partial result to the rank without
// that bit, which reduces the two in rank order. Ranks are counted from the root; if the operator does not commute,
// from rank 0, which sends the result to the root last.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/knomial_reduction.hpp"
#include "schedule/patterns/rank_order.hpp"

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
    .rounds = [](const CollectiveArguments& args) { return knomial_rounds(args, 2); },
    .round = [](const CollectiveArguments& args, int rank, std::int64_t k,
                Steps& steps) { knomial_round(args, 2, rank, k, steps); },
    .scratch = [](const CollectiveArguments& args, int rank) { return knomial_scratch(args, 2, rank); },
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   return ceil_log2(args.ranks) + (forwards_to_root(args) ? 1 : 0);
               },
               .most_sent = [](const CollectiveArguments& args) { return args.ranks > 1 ? args.count : 0; },
               .most_neighbours = [](const CollectiveArguments& args) -> std::int64_t {
                   return ceil_log2(args.ranks) + (forwards_to_root(args) && !is_power_of_two(args.root) ? 1 : 0);
               }},
}};

}  // namespace
}  // namespace timpani::reduce_binomial
