// Allreduce round a ring: a reduce-scatter, in which each part of the vector goes once round and every rank adds its
// elements to it, then an allgather of the reduced parts. Each part starts at another rank, so that the operator
// must commute.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/ring_allreduce.hpp"

namespace timpani::allreduce_ring {
namespace {

const Register entry{{
    .collective = "allreduce",
    .name = "ring",
    .source = "Patarasuk, Yuan, JPDC 2009",
    .cost = "2(p−1) α + 2(p−1)/p βm + (p−1)/p γm",
    .restrictions = {.commutative = true},
    .parameters = {},
    .aliases = {},
    .rounds = [](const CollectiveArguments& args) { return RingAllreduce(args, 0).rounds(); },
    .round = [](const CollectiveArguments& args, int rank, std::int64_t k,
                Steps& steps) { RingAllreduce(args, 0).round(rank, k, steps); },
    .symmetry = by_rotation_of_parts,
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   return std::int64_t{2} * (args.ranks - 1);
               },
               .most_sent = ring_elements_sent,
               .most_neighbours = [](const CollectiveArguments& args) -> std::int64_t {
                   return std::min(2, args.ranks - 1);
               }},
}};

}  // namespace
}  // namespace timpani::allreduce_ring
