// Reduce by the root alone: it receives from one rank after the other, with its own elements in rank order. It reduces
// each vector with those before it while it receives the next. So rank order is kept for any root.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/rank_order.hpp"

namespace timpani::reduce_linear {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return args.ranks + 1; }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Region own{Buffer::send, 0, args.count};
    if (rank != args.root) {
        if (rank == k) steps.send(args.root, own);
        return;
    }
    const OrderedReduction received{args.ranks, {Buffer::receive, 0, args.count}, 0};
    if (k == rank) steps.copy(own, received.buffer(k));
    if (k != rank && k < args.ranks) steps.receive(static_cast<int>(k), received.buffer(k));
    if (k > 1) received.combine(k - 1, steps);
}

std::int64_t next_active(const CollectiveArguments& args, int rank, std::int64_t k) {
    return rank == args.root ? k : k <= rank ? rank : rounds(args);
}

const Register entry{{
    .collective = "reduce",
    .name = "linear",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(p−1) (α + βm + γm)",
    .aliases = {"basic_linear"},
    .rounds = rounds,
    .round = round,
    .next_active = next_active,
    .scratch = [](const CollectiveArguments& args, int rank) { return rank == args.root ? 2 * args.count : 0; },
    .claims = {.rounds = other_ranks, .max_sent = message_once, .max_neighbors = other_ranks},
}};

}  // namespace
}  // namespace timpani::reduce_linear
