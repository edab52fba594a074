// Broadcast as a scatter of the message down a binomial tree and an allgather around a ring. In round k of the ring
// rank v, counted from the root, sends part v − k to its right neighbor. The root, which has all parts, only sends.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/message_parts.hpp"

namespace timpani::bcast_scatter_allgather_ring {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return ceil_log2(args.ranks) + args.ranks - 1; }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const int scattered = ceil_log2(p);
    if (k < scattered) {
        scatter_message(args, rank, k, steps);
        return;
    }
    const int me = relative_rank(args, rank);
    const auto part = [&](int owner) { return message_parts(args, rank, owner % p, owner % p + 1); };
    const int passed = me - static_cast<int>(k - scattered) + p;
    if (me > 0) steps.receive(absolute_rank(args, me - 1), part(passed - 1));
    if (me < p - 1) steps.send(absolute_rank(args, me + 1), part(passed));
}

const Register entry{{
    .collective = "bcast",
    .name = "scatter_allgather_ring",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "(⌈log₂ p⌉ + p − 1) α + 2 (p−1)/p βm",
    .aliases = {"scatter_ring_allgather"},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = [](const CollectiveArguments& args) { return scatter_rounds(args) + args.ranks - 1; },
               .max_sent = [](const CollectiveArguments& args) -> std::int64_t {
                   // The root: all parts but its own down the tree, all but its neighbor's around the ring.
                   if (args.ranks == 1) return 0;
                   const auto part = [&](int of) { return part_of(args.count, args.ranks, of).count; };
                   return 2 * args.count - part(0) - part(1);
               },
               .max_neighbors = [](const CollectiveArguments& args) -> std::int64_t {
                   // Two in the ring and, in the tree, the parents of even ranks and their children.
                   std::int64_t maximum = 0;
                   for (int rank = 0; rank < args.ranks; ++rank) {
                       std::int64_t all = (rank > 0 ? 1 : 0) + (rank < args.ranks - 1 ? 1 : 0);
                       for (int child = 2; child < parts_with_elements(args); child += 2) {
                           if (rank == child || rank == (child & (child - 1))) ++all;
                       }
                       maximum = std::max(maximum, all);
                   }
                   return maximum;
               }},
}};

}  // namespace
}  // namespace timpani::bcast_scatter_allgather_ring
