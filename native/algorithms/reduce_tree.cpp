// Reduce along a k-nomial tree, digit by digit to base k, from the lowest on. Each rank with a nonzero digit sends its
// partial result to the rank with that digit 0, which reduces what it receives in rank order. Ranks are counted from
// the root. If the operator does not commute, they are counted from rank 0, which sends the result to the root last.
//
// binomial  to base 2
// knomial   to any base

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/knomial_reduction.hpp"
#include "schedule/patterns/rank_order.hpp"

namespace timpani::reduce_tree {
namespace {

KnomialReduction reduction(const CollectiveArguments& args, std::int64_t radix) {
    return {args, radix, reduction_root(args)};
}

template <auto radix>
std::int64_t rounds(const CollectiveArguments& args) {
    return reduction(args, radix(args)).rounds() + 1;
}

template <auto radix>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int root = reduction_root(args);
    const bool ends_here = rank == root && rank == args.root;
    const Region final{Buffer::receive, 0, args.count};
    const Region result = ends_here ? final : Region{Buffer::scratch, 0, args.count};
    if (args.ranks == 1) steps.copy({Buffer::send, 0, args.count}, final);
    reduction(args, radix(args)).round(rank, k, result, ends_here ? 0 : args.count, steps);
    if (k < rounds<radix>(args) - 1 || !forwards_to_root(args)) return;
    if (rank == root) steps.send(args.root, result);
    if (rank == args.root) steps.receive(root, final);
}

template <auto radix>
Algorithm along_tree() {
    return {
        .collective = "reduce",
        .name = "binomial",
        .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
        .cost = "⌈log₂ p⌉ (α + βm + γm); α + βm more to keep order at a root other than 0",
        .rounds = rounds<radix>,
        .round = round<radix>,
        .scratch =
            [](const CollectiveArguments& args, int rank) {
                return std::min<std::int64_t>(3, reduction(args, radix(args)).children(rank)) * args.count;
            },
        .claims = {.rounds =
                       [](const CollectiveArguments& args) {
                           return children_of_knomial_root<radix>(args) + (forwards_to_root(args) ? 1 : 0);
                       },
                   .max_sent = message_once,
                   .max_neighbors =
                       [](const CollectiveArguments& args) {
                           const bool one_more = forwards_to_root(args) && !has_one_digit(args.root, radix(args));
                           return children_of_knomial_root<radix>(args) + (one_more ? 1 : 0);
                       }},
    };
}

Algorithm knomial() {
    Algorithm algorithm = along_tree<parameter<0>>();
    algorithm.name = "knomial";
    algorithm.source = "Moody, Fernandez, Petrini, Panda, SC 2003";
    algorithm.cost = "⌈log_r p⌉ (r−1) (α + βm + γm); α + βm more to keep order at a root other than 0";
    algorithm.parameters = {kKnomialRadix};
    return algorithm;
}

const Register to_base_2{along_tree<always<2>>()};
const Register to_any_base{knomial()};

}  // namespace
}  // namespace timpani::reduce_tree
