// Reduce along a Bine tree (schedule/patterns/bine.hpp): the nearest exchange first. Subtrees are ranges around a rank,
// so rank order is lost and the operator must commute. Ranks that the tree doesn't hold send first, to their neighbor.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/bine.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/rank_order.hpp"

namespace timpani::reduce_bine {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return floor_log2(args.ranks) + 2; }

/// The values that `rank` receives: from its neighbor, and from its children.
std::int64_t received(const BineTree& tree, int rank) {
    const int number = tree.fold.new_rank(tree.folded(rank));
    return number < 0 ? 0 : tree.butterfly.receives_in(number) + (tree.fold.is_proxy(tree.folded(rank)) ? 1 : 0);
}

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const BineTree tree(args);
    const int folded = tree.folded(rank);
    const Region own{Buffer::send, 0, args.count};
    if (tree.fold.has_proxy(folded)) {
        if (k == 0) steps.send(tree.rank(folded + 1), own);
        return;
    }
    const bool is_root = rank == args.root;
    const Region result{is_root ? Buffer::receive : Buffer::scratch, 0, args.count};
    if (args.ranks == 1 && k == 0) steps.copy(own, result);
    const OrderedReduction values{received(tree, rank), result, is_root ? 0 : args.count};
    const int number = tree.fold.new_rank(folded);
    const std::int64_t exchange = k - 1;
    // The neighbor's value comes before those of the exchanges.
    const std::int64_t index = tree.fold.is_proxy(folded) ? k : exchange;
    if (k == 0 && index == 0 && tree.fold.is_proxy(folded)) steps.receive(tree.rank(folded - 1), values.buffer(0));
    const bool exchanges = exchange >= 0 && exchange < tree.butterfly.levels;
    const int peer = exchanges ? tree.rank_of(tree.butterfly.partner(number, static_cast<int>(exchange))) : args.root;
    if (exchanges && exchange < tree.butterfly.receives_in(number)) steps.receive(peer, values.buffer(index));
    if (index == 1 && index <= values.number) steps.reduce(own, values.buffer(0));
    if (index > 1 && index <= values.number) values.combine(index - 1, steps);
    if (exchanges && exchange == tree.butterfly.receives_in(number)) {
        steps.send(peer, values.number == 0 ? own : result);
    }
}

const Register entry{{
    .collective = "reduce",
    .name = "bine",
    .source = "De Sensi et al., SC 2025",
    .cost = "⌈log₂ p⌉ (α + βm + γm)",
    .restrictions = {.commutative = true},
    .rounds = rounds,
    .round = round,
    .scratch = [](const CollectiveArguments& args,
                  int rank) { return std::min<std::int64_t>(3, received(BineTree(args), rank)) * args.count; },
    .claims = {.rounds = folded_log_ranks<1>, .max_sent = message_once, .max_neighbors = folded_log_ranks<1>},
}};

}  // namespace
}  // namespace timpani::reduce_bine
