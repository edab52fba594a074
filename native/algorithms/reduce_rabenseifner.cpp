// Reduce by Rabenseifner's algorithm: a reduce-scatter by recursive halving, then a gather to the root. Halving
// exchanges with the rank whose number differs in bit 0, 1, 2…, near ranks first. So each reduction is over consecutive
// ranks, and any operator is allowed. The gather takes the bits in reverse order: of two partners, the one whose number
// differs from the root's in that bit sends. Rank counts that are not a power of two are folded
// (schedule/patterns/fold.hpp): one rank of a pair sends its vector to the other first, and the root stays active.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/fold.hpp"
#include "schedule/patterns/rank_order.hpp"
#include "schedule/patterns/recursive_halving.hpp"

namespace timpani::reduce_rabenseifner {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 1 + 2 * floor_log2(args.ranks); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    const int levels = floor_log2(args.ranks);
    const auto number_of = [&](int who) { return fold.new_rank(fold.has_proxy(who) ? who + 1 : who); };
    const auto rank_of = [&](int number) { return number == number_of(args.root) ? args.root : fold.old_rank(number); };
    const int number = number_of(rank);
    const Region own{Buffer::send, 0, args.count};
    const Region sums{rank == args.root ? Buffer::receive : Buffer::scratch, 0, args.count};
    const Region theirs{Buffer::scratch, rank == args.root ? 0 : args.count, args.count};
    const int active = rank_of(number);
    if (rank != active) {
        if (k == 0) steps.send(active, own);
        return;
    }
    if (k == 0) {
        const int neighbor = fold.has_proxy(rank) ? rank + 1 : fold.is_proxy(rank) ? rank - 1 : -1;
        if (neighbor >= 0) steps.receive(neighbor, theirs);
        steps.copy(own, sums);
        if (neighbor >= 0) reduce_in_order(args, theirs, sums, neighbor < rank, steps);
        return;
    }
    const bool gathers = k > levels;
    const int bit = static_cast<int>(gathers ? std::int64_t{2} * levels - k : k - 1);
    const auto side_of = [&](int who, const Region& whole) {
        const auto parts = kept_parts(who, levels, bit + 1);
        const auto side = region(whole.buffer, part_of(args.count, 1 << levels, parts.first),
                                 part_of(args.count, 1 << levels, parts.last));
        return Region{side.buffer, whole.first + side.first, side.count};
    };
    const int peer = number ^ (1 << bit);
    if (!gathers) {
        steps.receive(rank_of(peer), side_of(number, theirs));
        steps.send(rank_of(peer), side_of(peer, sums));
        reduce_in_order(args, side_of(number, theirs), side_of(number, sums), peer < number, steps);
        return;
    }
    const int differing = number ^ number_of(args.root);
    if (differing >> (bit + 1) != 0) return;
    if (differing >> bit != 0) {
        steps.send(rank_of(peer), side_of(number, sums));
    } else {
        steps.receive(rank_of(peer), side_of(peer, sums));
    }
}

/// The root's number among the active ranks.
int root_number(const CollectiveArguments& args) {
    const int pairs = args.ranks - (1 << floor_log2(args.ranks));
    return args.root < 2 * pairs ? args.root / 2 : args.root - pairs;
}

/// The gather's round for a bit sends something unless all parts that the root's side lacks are empty.
std::int64_t busy_rounds(const CollectiveArguments& args) {
    const int levels = floor_log2(args.ranks);
    std::int64_t busy = levels + (is_power_of_two(args.ranks) ? 0 : 1);
    for (int bit = 0; bit < levels; ++bit) {
        const int upper = 1 << (levels - 1 - bit);  // the first part that the rank with that bit alone keeps
        busy += (root_number(args) >> bit & 1) == 1 || part_of(args.count, 1 << levels, upper).count > 0 ? 1 : 0;
    }
    return busy;
}

/// An inactive rank sends its vector. An active rank sends all but the part that it keeps. In the gather it sends once:
/// all that it has when it reaches the highest bit in which its number differs from the root's.
std::int64_t max_sent(const CollectiveArguments& args) {
    const int levels = floor_log2(args.ranks);
    const int numbers = 1 << levels;
    const auto before = [&](int part) {
        return part == numbers ? args.count : part_of(args.count, numbers, part).first;
    };
    std::int64_t maximum = is_power_of_two(args.ranks) ? 0 : args.count;
    for (int number = 0; number < numbers; ++number) {
        const int part = bit_reversed(number, levels);
        std::int64_t sent = args.count - part_of(args.count, numbers, part).count;
        if (const int differing = number ^ root_number(args); differing != 0) {
            const int gathered = numbers >> (floor_log2(differing) + 1);
            const int first = part / gathered * gathered;
            sent += before(first + gathered) - before(first);
        }
        maximum = std::max(maximum, sent);
    }
    return maximum;
}

const Register entry{{
    .collective = "reduce",
    .name = "rabenseifner",
    .source = "Rabenseifner, ICCS 2004",
    .cost = "2⌈log₂ p⌉ α + 2(p−1)/p βm + (p−1)/p γm; α + (β + γ) m more if p is no power of two",
    .aliases = {"reduce_scatter_gather"},
    .rounds = rounds,
    .round = round,
    .scratch = [](const CollectiveArguments& args, int rank) { return (rank == args.root ? 1 : 2) * args.count; },
    .claims = {.rounds = busy_rounds, .max_sent = max_sent, .max_neighbors = folded_log_ranks<1>},
}};

}  // namespace
}  // namespace timpani::reduce_rabenseifner
