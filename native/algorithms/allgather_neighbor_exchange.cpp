// Allgather by neighbor exchange: ranks 2i and 2i + 1 first exchange their blocks. After that each rank exchanges
// alternately with its two neighbors on the ring, and sends the two blocks that it received last. Since blocks travel
// in pairs, it takes half as many rounds as a ring.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::allgather_neighbor_exchange {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 1 + args.ranks / 2; }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const auto block = [&](int owner) { return region(Buffer::receive, block_of(args, owner)); };
    const int forward = rank % 2 == 0 ? 1 : -1;  // where the partner is
    if (k == 0) {
        steps.copy({Buffer::send, 0, block(rank).count}, block(rank));
        return;
    }
    if (k == 1) {
        steps.send(rank + forward, block(rank));
        steps.receive(rank + forward, block(rank + forward));
        return;
    }
    // The pair of blocks that `which` has received in a round. In round 1 it is its own pair. Later it is the pair
    // in_round/2 pairs before or after its own, alternately; even ranks start with the one before, odd ranks with the
    // one after.
    const auto received = [&](int which, std::int64_t in_round) {
        const bool away = (in_round % 2 == 0) == (which % 2 == 0);
        const auto pair = (which / 2 + (away ? -1 : 1) * (in_round / 2) + p / 2) % (p / 2);
        const int first = static_cast<int>(2 * pair);
        return region(Buffer::receive, block_of(args, first), block_of(args, first + 1));
    };
    const int peer = (rank + (k % 2 == 0 ? -forward : forward) + p) % p;
    steps.send(peer, received(rank, k - 1));
    steps.receive(peer, received(rank, k));
}

const RegisterWithV entry{{
    .collective = "allgather",
    .name = "neighbor_exchange",
    .source = "Chen, Zhang, Zhang, Yuan, HPCASIA 2005",
    .cost = "p/2 α + (p−1)/p βm",
    .restrictions = {.even = true},
    .aliases = {"neighbor"},
    .rounds = rounds,
    .round = round,
    .claims = {
        .rounds = [](const CollectiveArguments& args) -> std::int64_t { return args.ranks / 2; },
        .max_sent = message_to_each,
        .max_neighbors = [](const CollectiveArguments& args) -> std::int64_t { return args.ranks == 2 ? 1 : 2; }},
}};

}  // namespace
}  // namespace timpani::allgather_neighbor_exchange
