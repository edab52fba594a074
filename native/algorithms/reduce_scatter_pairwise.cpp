// Reduce-scatter by pairwise exchange. In round k each rank sends the rank k further around the ring its elements of
// that rank's block. It receives elements of its block from the rank k before it. Data of lower ranks arrives in
// descending order and is reduced into the rank's own elements from the left. Data of higher ranks also arrives in
// descending order, and is reduced separately. The two are reduced at the end. So rank order is kept at no cost.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::reduce_scatter_pairwise {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return args.ranks + 1; }

template <Blocks block>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const auto place = [&](std::int64_t index) {
        const auto count = block(args, rank).count;
        return index < 0 ? Region{Buffer::receive, 0, count} : Region{Buffer::scratch, index * count, count};
    };
    // The last rank has no higher ranks: the reduction over the lower ones is its result.
    const Region lower = place(rank == p - 1 ? -1 : 2);
    const Region higher = place(-1);
    const auto arriving = [&](std::int64_t in_round) { return in_round == rank + 1 ? higher : place(in_round % 2); };
    if (k == 0) {
        steps.copy(region(Buffer::send, block(args, rank)), lower);
        return;
    }
    if (k < p) {
        const int to = static_cast<int>((rank + k) % p);
        steps.receive(static_cast<int>((rank - k + p) % p), arriving(k));
        steps.send(to, region(Buffer::send, block(args, to)));
    }
    // Reduces what arrived in the round before, while this round's messages are under way.
    if (k > 1 && k - 1 != rank + 1) steps.reduce(arriving(k - 1), k - 1 <= rank ? lower : higher);
    if (k == p && rank < p - 1) steps.reduce(lower, higher);
}

template <Blocks block>
Algorithm pairwise(std::string_view collective) {
    return {
        .collective = collective,
        .name = "pairwise",
        .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
        .cost = "(p−1) α + (p−1)/p (β + γ) m",
        .rounds = rounds,
        .round = round<block>,
        .scratch = [](const CollectiveArguments& args, int rank) { return 3 * block(args, rank).count; },
        .requests = always<2>,
        .claims = {.rounds = other_ranks, .max_sent = other_blocks<block>, .max_neighbors = other_ranks},
    };
}

const Register reduce_scatter{pairwise<scattered_part>("reduce_scatter")};
const Register reduce_scatter_block{pairwise<block_of>("reduce_scatter_block")};

}  // namespace
}  // namespace timpani::reduce_scatter_pairwise
