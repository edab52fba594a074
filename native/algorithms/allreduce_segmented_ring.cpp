// Allreduce round a ring, in segments: as allreduce_ring.cpp, but with parts cut into segments, so that one is
// reduced while the next is received.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/ring_allreduce.hpp"

namespace timpani::allreduce_segmented_ring {
namespace {

const Register entry{{
    .collective = "allreduce",
    .name = "segmented_ring",
    .source = "Patarasuk, Yuan, JPDC 2009",
    .cost = "2(p−1) qα + 2(p−1)/p βm + (p−1)/(pq) γm, q segments of each part",
    .restrictions = {.commutative = true},
    .parameters = {{"segment_bytes", 1 << 20, 0, "bytes of a segment; 0 sends parts whole"}},
    .aliases = {},
    .rounds = [](const CollectiveArguments& args) { return RingAllreduce(args, args.parameters[0]).rounds(); },
    .round = [](const CollectiveArguments& args, int rank, std::int64_t k,
                Steps& steps) { RingAllreduce(args, args.parameters[0]).round(rank, k, steps); },
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
}  // namespace timpani::allreduce_segmented_ring
