// Broadcast along several chains that start at the root, in segments: the root sends each segment to the first rank
// of every chain, and each rank sends it on to the next one while it receives the segment after it.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_bcast.hpp"

namespace timpani::bcast_chain {
namespace {

Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[1]); }

TreeBcast<ChainTree> broadcast(const CollectiveArguments& args) {
    return {ChainTree{args.ranks, args.parameters[0]}, segments(args), args};
}

std::int64_t number_of_chains(const CollectiveArguments& args) {
    return std::min<std::int64_t>(args.parameters[0], args.ranks - 1);
}

// Two chains by default: Open MPI's four would be a linear algorithm on up to five ranks, two are one on three only.
const Register entry{{
    .collective = "bcast",
    .name = "chain",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(⌈(p−1)/f⌉ + q − 1) f (α + βm/q), f chains, q segments",
    .restrictions = {},
    .parameters = {{"fanout", 2, 1, "chains that start at the root", kTrialFanouts},
                   {"segment_bytes", 0, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .prepare = prepared_by<broadcast>,
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   if (args.ranks == 1) return 0;
                   const auto longest = (args.ranks - 2 + number_of_chains(args)) / number_of_chains(args);
                   return longest + segments(args).number() - 1;
               },
               .most_sent = [](const CollectiveArguments& args) { return number_of_chains(args) * args.count; },
               .most_neighbours = [](const CollectiveArguments& args) -> std::int64_t {
                   const std::int64_t inside = args.ranks - 1 > number_of_chains(args) ? 2 : 0;
                   return std::max(number_of_chains(args), inside);
               }},
}};

}  // namespace
}  // namespace timpani::bcast_chain
