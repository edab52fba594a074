// Broadcast down a k-nomial tree: each rank that has the message sends it to one child per round, those with the
// largest subtrees first.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/tree.hpp"

namespace timpani::bcast_knomial {
namespace {

KnomialTree tree(const CollectiveArguments& args) { return {args.ranks, args.parameters[0]}; }

std::int64_t rounds(const CollectiveArguments& args) { return tree(args).rounds(); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int me = relative_rank(args, rank);
    const Region whole{data_of(args, rank), 0, args.count};
    if (tree(args).round_of(me) == k) steps.receive(absolute_rank(args, tree(args).parent(me)), whole);
    const int child = tree(args).child(me, k);
    if (child > 0) steps.send(absolute_rank(args, child), whole);
}

constexpr auto children_of_root = children_of_knomial_root<parameter<0>>;

const Register entry{{
    .collective = "bcast",
    .name = "knomial",
    .source = "Wilkins et al., CLUSTER 2023",
    .cost = "⌈log_k p⌉ (k−1) (α + βm), k the radix",
    .parameters = {kKnomialRadix},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = children_of_root,
               .max_sent = [](const CollectiveArguments& args) { return children_of_root(args) * args.count; },
               .max_neighbors = children_of_root},
}};

}  // namespace
}  // namespace timpani::bcast_knomial
