// Allgather around a ring: every rank first sends its own block to its right neighbor, then in each round the block
// that it received in the round before.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::allgather_ring {
namespace {

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const auto block = [&](std::int64_t owner) {
        return region(Buffer::receive, block_of(args, static_cast<int>((owner % p + p) % p)));
    };
    if (k == 0) {
        steps.copy({Buffer::send, 0, block(rank).count}, block(rank));
        return;
    }
    steps.send((rank + 1) % p, block(rank - k + 1));
    steps.receive((rank - 1 + p) % p, block(rank - k));
}

const RegisterWithV entry{{
    .collective = "allgather",
    .name = "ring",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "(p−1) α + (p−1)/p βm",
    .rounds = all_ranks,
    .round = round,
    .symmetry = by_rotation,
    .claims = {.rounds = other_ranks, .max_sent = message_to_each, .max_neighbors = ring_neighbors},
}};

}  // namespace
}  // namespace timpani::allgather_ring
