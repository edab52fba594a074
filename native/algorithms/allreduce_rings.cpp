// Allreduce around a ring. First a reduce-scatter: each part of the vector travels around the ring once, and every rank
// adds its elements to it. Then an allgather of the reduced parts. Each part starts at another rank, so the operator
// must commute.
//
// ring            sends parts whole
// segmented_ring  cuts parts into segments, and reduces one while it receives the next

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/ring_allreduce.hpp"

namespace timpani::allreduce_rings {
namespace {

template <auto segment_bytes>
Algorithm ring() {
    return {
        .collective = "allreduce",
        .name = "ring",
        .source = "Patarasuk, Yuan, JPDC 2009",
        .cost = "2(p−1) α + 2(p−1)/p βm + (p−1)/p γm",
        .restrictions = {.commutative = true},
        .rounds = [](const CollectiveArguments& args) { return RingAllreduce(args, segment_bytes(args)).rounds(); },
        .round = [](const CollectiveArguments& args, int rank, std::int64_t k,
                    Steps& steps) { RingAllreduce(args, segment_bytes(args)).round(rank, k, steps); },
        .symmetry = by_rotation_of_parts,
        .claims = {.rounds = [](const CollectiveArguments& args) { return 2 * other_ranks(args); },
                   .max_sent = ring_elements_sent,
                   .max_neighbors = ring_neighbors},
    };
}

Algorithm segmented_ring() {
    Algorithm algorithm = ring<parameter<0>>();
    algorithm.name = "segmented_ring";
    algorithm.cost = "2(p−1) qα + 2(p−1)/p βm + (p−1)/(pq) γm, q segments of each part";
    algorithm.parameters = {{"segment_bytes", 1 << 20, 0, "bytes of a segment; 0 sends parts whole"}};
    return algorithm;
}

const Register whole{ring<always<0>>()};
const Register segmented{segmented_ring()};

}  // namespace
}  // namespace timpani::allreduce_rings
