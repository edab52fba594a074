// Reduce along several chains that end at the root, in segments: each rank reduces what the next rank of its chain
// sends with its own elements and sends that on, while it receives the next segment. Chains are consecutive ranks,
// counted from the root; if the operator does not commute, from rank 0, which sends the result to the root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/rank_order.hpp"
#include "schedule/tree.hpp"
#include "schedule/tree_reduction.hpp"

namespace timpani::reduce_chain {
namespace {

Segments segments(const CollectiveArguments& args) { return Segments::of(args, args.parameters[1]); }

TreeReduction<ChainTree> reduction(const CollectiveArguments& args) {
    return {ChainTree{args.ranks, args.parameters[0]}, segments(args), args, reduction_root(args)};
}

std::int64_t number_of_chains(const CollectiveArguments& args) {
    return std::min<std::int64_t>(args.parameters[0], args.ranks - 1);
}

std::int64_t busy_rounds(const CollectiveArguments& args) {
    if (args.ranks == 1) return 0;
    const auto longest = (args.ranks - 2 + number_of_chains(args)) / number_of_chains(args);
    return longest + segments(args).number() - 1 + (forwards_to_root(args) ? 1 : 0);
}

/// The first rank has the chains' first ranks, another the two beside it in its chain. Where the first rank sends the
/// result to the root, those two are neighbours, too.
std::int64_t most_neighbours(const CollectiveArguments& args) {
    const auto chains = static_cast<int>(number_of_chains(args));
    const std::int64_t most = std::max(chains, args.ranks - 1 > chains ? 2 : 0);
    for (int i = 0; forwards_to_root(args) && i < chains; ++i) {
        const auto chain = part_of(args.ranks - 1, chains, i);  // of the ranks from 1 on
        if (args.root - 1 <= chain.first || args.root > chain.end()) continue;
        return std::max<std::int64_t>({most, chains + 1, args.root == chain.end() ? 2 : 3});
    }
    return most;
}

// Two chains by default: Open MPI's four would be a linear algorithm on up to five ranks, two are one on three only.
const Register entry{{
    .collective = "reduce",
    .name = "chain",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(⌈(p−1)/f⌉ + q − 1) f (α + (β + γ) m/q), f chains, q segments",
    .restrictions = {},
    .parameters = {{"fanout", 2, 1, "chains that end at the root", kTrialFanouts},
                   {"segment_bytes", 0, 0, "bytes of a segment; 0 sends the message whole"}},
    .aliases = {},
    .prepare = prepared_by<reduction>,
    .scratch = [](const CollectiveArguments& args, int rank) { return reduction(args).scratch(rank); },
    .claims = {.rounds = busy_rounds,
               .most_sent = [](const CollectiveArguments& args) { return args.ranks > 1 ? args.count : 0; },
               .most_neighbours = most_neighbours},
}};

}  // namespace
}  // namespace timpani::reduce_chain
