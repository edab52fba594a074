// Scan and exscan by recursive doubling: in round k each rank exchanges the reduction over its group of 2ᵏ ranks with
// the rank whose number differs in bit k, if that exists. Both reduce the two for the next round. The higher rank also
// reduces what it received into its result. This keeps rank order, so any operator is allowed. No higher rank ever
// needs an incomplete last group.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/rank_order.hpp"

namespace timpani::scan_recursive_doubling {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 1 + ceil_log2(args.ranks); }

template <bool exclusive>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Region own{Buffer::send, 0, args.count};
    const Region result{Buffer::receive, 0, args.count};
    const Region group{Buffer::scratch, 0, args.count};
    const Region theirs{Buffer::scratch, args.count, args.count};
    if (k == 0) {
        if (args.ranks > 1) steps.copy(own, group);
        if (!exclusive) steps.copy(own, result);
        return;
    }
    const int bit = 1 << (k - 1);
    const int peer = rank ^ bit;
    if (peer >= args.ranks) return;
    steps.receive(peer, theirs);
    steps.send(peer, group);
    if (peer < rank) {
        const bool first = exclusive && rank % bit == 0;  // exscan's result starts with the first lower ranks
        first ? steps.copy(theirs, result) : steps.reduce(theirs, result);
    }
    if (k + 1 < rounds(args)) reduce_in_order(args, theirs, group, peer < rank, steps);
}

Algorithm recursive_doubling(std::string_view collective, decltype(Algorithm::round) round) {
    return {
        .collective = collective,
        .name = "recursive_doubling",
        .source = "Kruskal, Rudolph, Snir, IEEE ToC 1985; Hillis, Steele, CACM 1986",
        .cost = "⌈log₂ p⌉ (α + βm + 2γm)",
        .rounds = rounds,
        .round = round,
        .scratch = [](const CollectiveArguments& args, int) { return 2 * args.count; },
        .claims = {.rounds = log_ranks, .max_sent = message_each_round, .max_neighbors = log_ranks},
    };
}

const Register scan{recursive_doubling("scan", round<false>)};
const Register exscan{recursive_doubling("exscan", round<true>)};

}  // namespace
}  // namespace timpani::scan_recursive_doubling
