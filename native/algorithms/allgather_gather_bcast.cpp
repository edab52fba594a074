// Allgather as a gather to rank 0 and a broadcast from there along the same binomial tree. In round k of the gather
// rank r sends the blocks of ranks [r, r + 2ᵏ) to rank r − 2ᵏ. The broadcast sends all blocks back down.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::allgather_gather_bcast {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 1 + 2 * ceil_log2(args.ranks); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const auto of_ranks = [&](int first, int last) {
        return region(Buffer::receive, block_of(args, first), block_of(args, std::min(last, p - 1)));
    };
    if (k == 0) {
        steps.copy({Buffer::send, 0, block_of(args, rank).count}, of_ranks(rank, rank));
        return;
    }
    const std::int64_t levels = ceil_log2(p);
    const bool gathers = k <= levels;
    const int distance = 1 << (gathers ? k - 1 : 2 * levels - k);
    const bool parent = rank % (2 * distance) == 0 && rank + distance < p;
    const bool child = rank % (2 * distance) == distance;
    if (gathers) {
        if (parent) steps.receive(rank + distance, of_ranks(rank + distance, rank + 2 * distance - 1));
        if (child) steps.send(rank - distance, of_ranks(rank, rank + distance - 1));
    } else {
        if (parent) steps.send(rank + distance, of_ranks(0, p - 1));
        if (child) steps.receive(rank - distance, of_ranks(0, p - 1));
    }
}

const RegisterWithV entry{{
    .collective = "allgather",
    .name = "gather_bcast",
    .source = "Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007",
    .cost = "2⌈log₂ p⌉ α + ((p−1)/p + ⌈log₂ p⌉) βm",
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = twice_log_ranks,
               // Rank 0 sends all blocks in each round of the broadcast.
               .max_sent =
                   [](const CollectiveArguments& args) { return args.ranks * args.count * ceil_log2(args.ranks); },
               .max_neighbors = log_ranks},
}};

}  // namespace
}  // namespace timpani::allgather_gather_bcast
