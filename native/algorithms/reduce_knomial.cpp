// Reduce along a k-nomial tree: digit by digit to base k, from the lowest on, each rank with a digit other than 0
// sends its partial result to the rank with that digit 0, which reduces what it receives in rank order. Ranks are
// counted from the root; if the operator does not commute, from rank 0, which sends the result to the root last.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/knomial_reduction.hpp"
#include "schedule/patterns/rank_order.hpp"

namespace timpani::reduce_knomial {
namespace {

/// One for each value of each digit other than 0; of the highest digit, as many as there are ranks for.
std::int64_t children_of_first(const CollectiveArguments& args) {
    const auto radix = args.parameters[0];
    std::int64_t children = 0;
    for (std::int64_t value = 1; value < args.ranks; value *= radix) {
        children += std::min(radix - 1, (args.ranks - 1) / value);
    }
    return children;
}

bool is_child_of_first(const CollectiveArguments& args) {
    std::int64_t rank = args.root;
    while (rank > 0 && rank % args.parameters[0] == 0) rank /= args.parameters[0];
    return rank < args.parameters[0];
}

const Register entry{{
    .collective = "reduce",
    .name = "knomial",
    .source = "Moody, Fernandez, Petrini, Panda, SC 2003",
    .cost = "⌈log_r p⌉ (r−1) (α + βm + γm); α + βm more to keep order at a root other than 0",
    .restrictions = {},
    .parameters = {{"radix", 4, 2, "base of the digits, one more than a rank's children for each", kTrialRadices}},
    .aliases = {},
    .rounds = [](const CollectiveArguments& args) { return knomial_rounds(args, args.parameters[0]); },
    .round = [](const CollectiveArguments& args, int rank, std::int64_t k,
                Steps& steps) { knomial_round(args, args.parameters[0], rank, k, steps); },
    .scratch = [](const CollectiveArguments& args,
                  int rank) { return knomial_scratch(args, args.parameters[0], rank); },
    .claims = {.rounds =
                   [](const CollectiveArguments& args) {
                       return children_of_first(args) + (forwards_to_root(args) ? 1 : 0);
                   },
               .most_sent = [](const CollectiveArguments& args) { return args.ranks > 1 ? args.count : 0; },
               .most_neighbours =
                   [](const CollectiveArguments& args) {
                       return children_of_first(args) + (forwards_to_root(args) && !is_child_of_first(args) ? 1 : 0);
                   }},
}};

}  // namespace
}  // namespace timpani::reduce_knomial
