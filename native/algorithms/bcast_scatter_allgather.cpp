// Broadcast as a scatter of the message down a binomial tree and an allgather by recursive doubling. Ranks are
// counted from the root. In step i of the allgather each rank exchanges the parts of its group of 2ⁱ ranks with the
// rank whose number differs in bit i. The last group may have fewer ranks than the group that it exchanges with:
// ranks of the latter that have no partner then receive its parts, down a binomial tree, from those that had one.
// The root, which has all parts, only sends.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/message_parts.hpp"

namespace timpani::bcast_scatter_allgather {
namespace {

/// How many ranks the last group of step i has, where it is not full and exchanges with the group before it; else 0.
int ranks_in_last_group(int ranks, int i) { return (ranks >> i) % 2 == 1 ? ranks % (1 << i) : 0; }

/// Rounds after the exchange of step i until all ranks of the group before the last one have the last one's parts.
int rounds_forwarding(int ranks, int i) {
    const int in_last = ranks_in_last_group(ranks, i);
    return in_last == 0 ? 0 : i - floor_log2(in_last);
}

std::int64_t rounds(const Shape& shape) {
    const int steps = ceil_log2(shape.ranks);
    std::int64_t all = 2 * std::int64_t{steps};
    for (int i = 0; i < steps; ++i) all += rounds_forwarding(shape.ranks, i);
    return all;
}

void exchange(const Shape& shape, int rank, int i, Steps& steps) {
    const int me = relative_rank(shape, rank);
    const int group = 1 << i;
    const int other = me ^ group;
    if (other >= shape.ranks) return;
    const auto parts = [&](int of) {
        return message_parts(shape, rank, of / group * group, of / group * group + group);
    };
    if (me != 0) steps.receive(absolute_rank(shape, other), parts(other));
    if (other != 0) steps.send(absolute_rank(shape, other), parts(me));
}

/// Passes the last group's parts on in the group before it, over `distance`. Of each 2·`distance` ranks there the first
/// `have` have them already: as many as the last group has ranks.
void forward(const Shape& shape, int rank, int i, int distance, Steps& steps) {
    const int group = 1 << i;
    const int begin = shape.ranks / (2 * group) * (2 * group);
    const int me = relative_rank(shape, rank);
    if (me < begin || me >= begin + group) return;
    const int have = ranks_in_last_group(shape.ranks, i);
    const int at = (me - begin) % (2 * distance);
    const Region parts = message_parts(shape, rank, begin + group, shape.ranks);
    if (at < distance && at < have && at + distance >= have) steps.send(absolute_rank(shape, me + distance), parts);
    if (at >= distance && at >= have && at - distance < have) steps.receive(absolute_rank(shape, me - distance), parts);
}

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const int scattered = ceil_log2(shape.ranks);
    if (k < scattered) {
        scatter_message(shape, rank, k, steps);
        return;
    }
    k -= scattered;
    for (int i = 0; k >= 0; ++i) {
        const int forwarding = rounds_forwarding(shape.ranks, i);
        if (k == 0) exchange(shape, rank, i, steps);
        if (k > 0 && k <= forwarding) forward(shape, rank, i, 1 << (i - k), steps);
        k -= 1 + forwarding;
    }
}

const Register entry{{
    .collective = "bcast",
    .name = "scatter_allgather",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "2 ⌈log₂ p⌉ α + 2 (p−1)/p βm where p is a power of two, up to 3 ⌈log₂ p⌉ α elsewhere",
    .restrictions = {},
    .parameters = {},
    .aliases = {"scatter_recursive_doubling_allgather"},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t {
                   // Of the rounds that forward parts, those in which these have elements.
                   std::int64_t all = scatter_rounds(shape) + ceil_log2(shape.ranks);
                   for (int full = 1; full < shape.ranks; full *= 2) {
                       const int left = shape.ranks % full;  // ranks in the last group, if it is not full
                       if (left == 0 || shape.ranks / full % 2 == 0) continue;
                       if (shape.ranks - left < shape.count) all += floor_log2(full) - floor_log2(left);
                   }
                   return all;
               },
               .most_sent = [](const Shape& shape) -> std::int64_t {
                   // The root sends all but its part down the tree, its group's parts in each exchange, and the parts
                   // of the ranks beyond the largest power of two over each distance not less than there are such
                   // ranks.
                   if (shape.ranks == 1) return 0;
                   const auto first = [&](int ranks) { return part_of(shape.count, shape.ranks, ranks).first; };
                   const int full = 1 << floor_log2(shape.ranks);
                   std::int64_t sent = shape.count - first(1);
                   for (int group = 1; group < shape.ranks; group *= 2) sent += first(group);
                   if (full == shape.ranks) return sent;
                   return sent + (floor_log2(full) - ceil_log2(shape.ranks - full)) * (shape.count - first(full));
               },
               .most_neighbours = [](const Shape& shape) -> std::int64_t { return ceil_log2(shape.ranks); }},
}};

}  // namespace
}  // namespace timpani::bcast_scatter_allgather
