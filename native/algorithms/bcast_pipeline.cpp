// Broadcast along a chain of all ranks, in segments: each rank sends a segment on to the next rank while it receives
// the segment after it.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/tree.hpp"
#include "schedule/patterns/tree_bcast.hpp"

namespace timpani::bcast_pipeline {
namespace {

Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[0]); }

TreeBcast<ChainTree> broadcast(const CollectiveArguments& args) {
    return {ChainTree{args.ranks, 1}, segments(args), args};
}

const Register entry{{
    .collective = "bcast",
    .name = "pipeline",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(p + q − 2) (α + βm/q), q segments",
    .restrictions = {},
    .parameters = {{"segment_bytes", 8192, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .prepare = prepared_by<broadcast>,
    .claims = {
        .rounds = [](const CollectiveArguments& args) -> std::int64_t {
            return args.ranks == 1 ? 0 : args.ranks + segments(args).number() - 2;
        },
        .most_sent = [](const CollectiveArguments& args) { return args.ranks == 1 ? 0 : args.count; },
        .most_neighbours = [](const CollectiveArguments& args) -> std::int64_t { return std::min(2, args.ranks - 1); }},
}};

}  // namespace
}  // namespace timpani::bcast_pipeline
