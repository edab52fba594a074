// Broadcast as a scatter of the message down a binomial tree and an allgather by recursive doubling. Ranks are counted
// from the root. In step i of the allgather each rank exchanges the parts of its group of 2ⁱ ranks with the rank whose
// number differs in bit i. The last group may have fewer ranks than the group that it exchanges with. Then some ranks
// of the full group have no partner. They receive the last group's parts down a binomial tree from ranks that had a
// partner. The root, which has all parts, only sends.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/message_parts.hpp"

namespace timpani::bcast_scatter_allgather {
namespace {

/// Number of ranks in the last group of step i if it is not full and exchanges with the group before it; else 0.
int ranks_in_last_group(int ranks, int i) { return (ranks >> i) % 2 == 1 ? ranks % (1 << i) : 0; }

/// Rounds after the exchange of step i until all ranks of the group before the last one have the last one's parts.
int rounds_forwarding(int ranks, int i) {
    const int in_last = ranks_in_last_group(ranks, i);
    return in_last == 0 ? 0 : i - floor_log2(in_last);
}

std::int64_t rounds(const CollectiveArguments& args) {
    const int steps = ceil_log2(args.ranks);
    std::int64_t all = 2 * std::int64_t{steps};
    for (int i = 0; i < steps; ++i) all += rounds_forwarding(args.ranks, i);
    return all;
}

void exchange(const CollectiveArguments& args, int rank, int i, Steps& steps) {
    const int me = relative_rank(args, rank);
    const int group = 1 << i;
    const int other = me ^ group;
    if (other >= args.ranks) return;
    const auto parts = [&](int of) {
        return message_parts(args, rank, of / group * group, of / group * group + group);
    };
    if (me != 0) steps.receive(absolute_rank(args, other), parts(other));
    if (other != 0) steps.send(absolute_rank(args, other), parts(me));
}

/// Forwards the last group's parts within the group before it, over `distance`. The first `have` of each 2·`distance`
/// ranks have them already: as many as the last group has ranks.
void forward(const CollectiveArguments& args, int rank, int i, int distance, Steps& steps) {
    const int group = 1 << i;
    const int begin = args.ranks / (2 * group) * (2 * group);
    const int me = relative_rank(args, rank);
    if (me < begin || me >= begin + group) return;
    const int have = ranks_in_last_group(args.ranks, i);
    const int at = (me - begin) % (2 * distance);
    const Region parts = message_parts(args, rank, begin + group, args.ranks);
    if (at < distance && at < have && at + distance >= have) steps.send(absolute_rank(args, me + distance), parts);
    if (at >= distance && at >= have && at - distance < have) steps.receive(absolute_rank(args, me - distance), parts);
}

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int scattered = ceil_log2(args.ranks);
    if (k < scattered) {
        scatter_message(args, rank, k, steps);
        return;
    }
    k -= scattered;
    for (int i = 0; k >= 0; ++i) {
        const int forwarding = rounds_forwarding(args.ranks, i);
        if (k == 0) exchange(args, rank, i, steps);
        if (k > 0 && k <= forwarding) forward(args, rank, i, 1 << (i - k), steps);
        k -= 1 + forwarding;
    }
}

const Register entry{{
    .collective = "bcast",
    .name = "scatter_allgather",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "2 ⌈log₂ p⌉ α + 2 (p−1)/p βm where p is a power of two, up to 3 ⌈log₂ p⌉ α elsewhere",
    .aliases = {"scatter_recursive_doubling_allgather"},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   // The rounds that forward parts, except those whose parts are all empty.
                   std::int64_t all = scatter_rounds(args) + ceil_log2(args.ranks);
                   for (int full = 1; full < args.ranks; full *= 2) {
                       const int left = args.ranks % full;  // ranks in the last group, if it is not full
                       if (left == 0 || args.ranks / full % 2 == 0) continue;
                       if (args.ranks - left < args.count) all += floor_log2(full) - floor_log2(left);
                   }
                   return all;
               },
               .max_sent = [](const CollectiveArguments& args) -> std::int64_t {
                   // The root sends all but its part down the tree, and its group's parts in each exchange. It also
                   // forwards the parts of the ranks beyond the largest power of two, once for each distance that is
                   // not smaller than their number.
                   if (args.ranks == 1) return 0;
                   const auto first = [&](int ranks) { return part_of(args.count, args.ranks, ranks).first; };
                   const int full = 1 << floor_log2(args.ranks);
                   std::int64_t sent = args.count - first(1);
                   for (int group = 1; group < args.ranks; group *= 2) sent += first(group);
                   if (full == args.ranks) return sent;
                   return sent + (floor_log2(full) - ceil_log2(args.ranks - full)) * (args.count - first(full));
               },
               .max_neighbors = log_ranks},
}};

}  // namespace
}  // namespace timpani::bcast_scatter_allgather
