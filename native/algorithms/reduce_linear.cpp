// Reduce by the root alone: it receives from one rank after the other, the last rank first, and adds each vector to the
// left of those before it while it receives the next. So rank order is kept for any root.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::reduce_linear {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return args.ranks + 1; }

/// The round in which the root receives from `rank`.
std::int64_t turn(const CollectiveArguments& args, int rank) { return args.ranks - 1 - rank; }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Region own{Buffer::send, 0, args.count};
    const Region sum{Buffer::receive, 0, args.count};
    if (rank != args.root) {
        if (k == turn(args, rank)) steps.send(args.root, own);
        return;
    }
    const auto own_turn = turn(args, rank);
    const auto vector = [&](std::int64_t of) {
        return of == own_turn ? own : Region{Buffer::scratch, of % 2 * args.count, args.count};
    };
    if (k < args.ranks && k != own_turn) {
        steps.receive(static_cast<int>(args.ranks - 1 - k), k == 0 ? sum : vector(k));
    } else if (k == 0) {
        steps.copy(own, sum);
    }
    if (k > 1) steps.reduce(vector(k - 1), sum);
}

std::int64_t next_active(const CollectiveArguments& args, int rank, std::int64_t k) {
    if (rank == args.root) return k;
    return k <= turn(args, rank) ? turn(args, rank) : rounds(args);
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
