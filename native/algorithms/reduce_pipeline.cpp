// Reduce along a chain of all ranks, in segments: each rank reduces what the next one sends with its own elements
// and sends that on, while it receives the next segment. Ranks are counted from the root; if the operator does not
// commute, from rank 0, which sends the result to the root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/rank_order.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_reduction.hpp"

namespace timpani::reduce_pipeline {
namespace {

Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[0]); }

TreeReduction<ChainTree> reduction(const CollectiveArguments& args) {
    return {ChainTree{args.ranks, 1}, segments(args), args, reduction_root(args)};
}

const Register entry{{
    .collective = "reduce",
    .name = "pipeline",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(p + q − 2) (α + (β + γ) m/q), q segments",
    .restrictions = {},
    .parameters = {{"segment_bytes", 8192, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .prepare = prepared_by<reduction>,
    .scratch = [](const CollectiveArguments& args, int rank) { return reduction(args).scratch(rank); },
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   if (args.ranks == 1) return 0;
                   return args.ranks + segments(args).number() - 2 + (forwards_to_root(args) ? 1 : 0);
               },
               .most_sent = [](const CollectiveArguments& args) { return args.ranks > 1 ? args.count : 0; },
               .most_neighbours = [](const CollectiveArguments& args) -> std::int64_t {
                   const bool inside = args.root > 1 && args.root < args.ranks - 1;
                   return forwards_to_root(args) && inside ? 3 : std::min(2, args.ranks - 1);
               }},
}};

}  // namespace
}  // namespace timpani::reduce_pipeline
