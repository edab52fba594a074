// Allreduce by recursive doubling: in round k each rank exchanges its partial result with the rank whose number
// differs in bit k, and both reduce the two in rank order. Rank counts that are no power of two are folded
// (schedule/fold.hpp): the even rank of a pair sends its vector to its proxy first and receives the result last.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/fold.hpp"
#include "schedule/rank_order.hpp"

namespace timpani::allreduce_recursive_doubling {
namespace {

std::int64_t rounds(const Shape& shape) {
    const Fold fold(shape);
    return 2 + ceil_log2(fold.active);
}

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(shape);
    const Region mine{Buffer::receive, 0, shape.count};
    const Region theirs{Buffer::scratch, 0, shape.count};
    if (k == 0) {
        if (fold.has_proxy(rank)) {
            steps.send(rank + 1, {Buffer::send, 0, shape.count});
            return;
        }
        steps.copy({Buffer::send, 0, shape.count}, mine);
        if (fold.is_proxy(rank)) {
            steps.receive(rank - 1, theirs);
            steps.reduce(theirs, mine);
        }
        return;
    }
    if (k == rounds(shape) - 1) {
        if (fold.has_proxy(rank)) steps.receive(rank + 1, mine);
        if (fold.is_proxy(rank)) steps.send(rank - 1, mine);
        return;
    }
    const int number = fold.new_rank(rank);
    if (number < 0) return;
    const int peer = fold.old_rank(number ^ (1 << (k - 1)));
    steps.send(peer, mine);
    steps.receive(peer, theirs);
    reduce_in_order(shape, theirs, mine, peer < rank, steps);
}

const Register entry{{
    .collective = "allreduce",
    .name = "recursive_doubling",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "⌈log₂ p⌉ (α + βm + γm)",
    .restrictions = {},
    .parameters = {},
    .aliases = {},
    .rounds = rounds,
    .round = round,
    .scratch = [](const Shape& shape, int) { return shape.count; },
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t {
                   return floor_log2(shape.ranks) + (is_power_of_two(shape.ranks) ? 0 : 2);
               },
               .most_sent =
                   [](const Shape& shape) {
                       return (floor_log2(shape.ranks) + (is_power_of_two(shape.ranks) ? 0 : 1)) * shape.count;
                   },
               .most_neighbours = [](const Shape& shape) -> std::int64_t {
                   return floor_log2(shape.ranks) + (is_power_of_two(shape.ranks) ? 0 : 1);
               }},
}};

}  // namespace
}  // namespace timpani::allreduce_recursive_doubling
