// Allgather by Bruck's algorithm: in round k each rank sends the blocks that it has, its own and the next ranks', to
// the rank 2ᵏ before it on the ring. So every rank doubles its blocks. Scratch holds the blocks with the rank's own
// first; a last, local round rotates them into rank order.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::allgather_bruck {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return ceil_log2(args.ranks) + 2; }

std::int64_t scratch(const CollectiveArguments& args, int) { return block_of(args, args.ranks - 1).end(); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const std::int64_t before = block_of(args, rank).first;
    const std::int64_t all = scratch(args, rank);
    // Where scratch has blocks [first, last), counted around the ring from the rank's own.
    const auto rotated = [&](int first, int last) {
        const auto begin = [&](int number) {
            if (number == p) return all;
            const int owner = (rank + number) % p;
            return block_of(args, owner).first - before + (owner < rank ? all : 0);
        };
        return Region{Buffer::scratch, begin(first), begin(last) - begin(first)};
    };
    if (k == 0) {
        steps.copy({Buffer::send, 0, block_of(args, rank).count}, rotated(0, 1));
        return;
    }
    if (k == rounds(args) - 1) {
        steps.copy({Buffer::scratch, 0, all - before}, {Buffer::receive, before, all - before});
        steps.copy({Buffer::scratch, all - before, before}, {Buffer::receive, 0, before});
        return;
    }
    const int distance = 1 << (k - 1);
    const int blocks = std::min(distance, p - distance);
    steps.send((rank - distance + p) % p, rotated(0, blocks));
    steps.receive((rank + distance) % p, rotated(distance, distance + blocks));
}

const RegisterWithV entry{{
    .collective = "allgather",
    .name = "bruck",
    .source = "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 1997",
    .cost = "⌈log₂ p⌉ α + (p−1)/p βm",
    .aliases = {"brucks"},
    .rounds = rounds,
    .round = round,
    .scratch = scratch,
    .claims = {.rounds = log_ranks, .max_sent = message_to_each, .max_neighbors = ranks_at_one_digit<always<2>>},
}};

}  // namespace
}  // namespace timpani::allgather_bruck
