// Reduce-scatter around a ring: the block of rank r starts at rank r + 1, and each rank on its way to r adds its
// elements. Each block starts at another rank, so the operator must commute.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::reduce_scatter_ring {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return std::max(1, args.ranks - 1); }

template <Blocks block>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const auto own = [&](std::int64_t owner) {
        return region(Buffer::send, block(args, static_cast<int>((owner + p) % p)));
    };
    if (p == 1) {
        steps.copy(own(rank), {Buffer::receive, 0, own(rank).count});
        return;
    }
    // Blocks arrive alternately in two buffers in scratch, and in the last round in the result.
    const auto partial_result = [&](std::int64_t in_round, std::int64_t count) {
        if (in_round == p - 2) return Region{Buffer::receive, 0, count};
        return Region{Buffer::scratch, in_round % 2 * block(args, 0).count, count};
    };
    const Region outgoing = own(rank - k - 1);
    const Region mine = own(rank - k - 2);
    const Region incoming = partial_result(k, mine.count);
    steps.receive((rank - 1 + p) % p, incoming);
    steps.send((rank + 1) % p, k == 0 ? outgoing : partial_result(k - 1, outgoing.count));
    steps.reduce(mine, incoming);
}

template <Blocks block>
std::int64_t scratch(const CollectiveArguments& args, int) {
    return std::clamp(args.ranks - 2, 0, 2) * block(args, 0).count;
}

template <Blocks block>
Algorithm ring(std::string_view collective) {
    return {
        .collective = collective,
        .name = "ring",
        .source = "Patarasuk, Yuan, JPDC 2009",
        .cost = "(p−1) α + (p−1)/p (β + γ) m",
        .restrictions = {.commutative = true},
        .rounds = rounds,
        .round = round<block>,
        .scratch = scratch<block>,
        .symmetry = block == scattered_part ? by_rotation_of_parts : by_rotation,
        .claims = {.rounds = other_ranks, .max_sent = other_blocks<block>, .max_neighbors = ring_neighbors},
    };
}

const Register reduce_scatter{ring<scattered_part>("reduce_scatter")};
const Register reduce_scatter_block{ring<block_of>("reduce_scatter_block")};

}  // namespace
}  // namespace timpani::reduce_scatter_ring
