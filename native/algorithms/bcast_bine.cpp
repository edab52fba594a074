// Broadcast along a Bine tree (schedule/patterns/bine.hpp): the farthest exchange first. A rank that has the data sends
// it in every later exchange. Ranks that the tree doesn't hold receive last, from their neighbor.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/bine.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::bcast_bine {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return floor_log2(args.ranks) + 1; }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const BineTree tree(args);
    const Region whole{data_of(args, rank), 0, args.count};
    const int folded = tree.folded(rank);
    if (k == tree.butterfly.levels) {
        if (tree.fold.has_proxy(folded)) steps.receive(tree.rank(folded + 1), whole);
        if (tree.fold.is_proxy(folded)) steps.send(tree.rank(folded - 1), whole);
        return;
    }
    const int number = tree.fold.new_rank(folded);
    if (number < 0) return;
    const int exchange = tree.butterfly.levels - 1 - static_cast<int>(k);
    const int peer = tree.rank_of(tree.butterfly.partner(number, exchange));
    const int received = tree.butterfly.receives_in(number);
    if (exchange == received) steps.receive(peer, whole);
    if (exchange < received) steps.send(peer, whole);
}

const Register entry{{
    .collective = "bcast",
    .name = "bine",
    .source = "De Sensi et al., SC 2025",
    .cost = "⌈log₂ p⌉ (α + βm)",
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = folded_log_ranks<1>, .max_sent = message_each_round, .max_neighbors = folded_log_ranks<1>},
}};

}  // namespace
}  // namespace timpani::bcast_bine
