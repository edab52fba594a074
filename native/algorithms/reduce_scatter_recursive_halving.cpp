// Reduce-scatter by recursive halving. In each round a rank and the rank half a group away exchange halves of the
// blocks that they still work on, and each reduces the half with its own block. Far ranks meet first. Every block ends
// at its owner, but rank order is lost, so the operator must commute. Rank counts that are not a power of two are
// folded (schedule/patterns/fold.hpp).

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/fold.hpp"

namespace timpani::reduce_scatter_recursive_halving {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 2 + floor_log2(args.ranks); }

template <Blocks block>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    const int levels = floor_log2(args.ranks);
    const bool last = k == levels + 1;
    const auto of_ranks = [&](Buffer buffer, int first, int last_rank) {
        return region(buffer, block(args, first), block(args, last_rank));
    };
    const Region all = of_ranks(Buffer::send, 0, args.ranks - 1);
    const Region result{Buffer::receive, 0, block(args, rank).count};
    if (fold.has_proxy(rank)) {
        if (k == 0) steps.send(rank + 1, all);
        if (last) steps.receive(rank + 1, result);
        return;
    }
    const Region sums{Buffer::scratch, 0, all.count};
    if (k == 0) {
        if (!fold.is_proxy(rank)) return;
        steps.receive(rank - 1, sums);
        steps.reduce(all, sums);
        return;
    }
    if (last) {
        steps.copy(of_ranks(levels == 0 ? Buffer::send : Buffer::scratch, rank, rank), result);
        if (fold.is_proxy(rank)) steps.send(rank - 1, of_ranks(Buffer::scratch, rank - 1, rank - 1));
        return;
    }
    const int half = 1 << (levels - k);
    const auto side_of = [&](Buffer buffer, int number) {
        const int first = number & ~(half - 1);
        return of_ranks(buffer, fold.first_rank(first), fold.old_rank(first + half - 1));
    };
    const int number = fold.new_rank(rank);
    const int peer = number ^ half;
    const bool untouched = k == 1 && !fold.is_proxy(rank);  // nothing is reduced yet: the data is still the caller's
    const Region kept = side_of(Buffer::scratch, number);
    const Region theirs = {Buffer::scratch, (untouched ? 0 : all.count) + kept.first, kept.count};
    steps.receive(fold.old_rank(peer), theirs);
    steps.send(fold.old_rank(peer), side_of(untouched ? Buffer::send : Buffer::scratch, peer));
    steps.reduce(untouched ? side_of(Buffer::send, number) : theirs, kept);
}

/// An inactive rank sends its whole vector. If all ranks are active, each sends all but its own block.
template <Blocks block>
std::int64_t max_sent(const CollectiveArguments& args) {
    const auto last = block(args, args.ranks - 1);
    return is_power_of_two(args.ranks) ? last.first : last.end();
}

template <Blocks block>
Algorithm recursive_halving(std::string_view collective) {
    return {
        .collective = collective,
        .name = "recursive_halving",
        .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
        .cost = "⌈log₂ p⌉ α + (p−1)/p (β + γ) m; 2α + (β + γ) m more if p is no power of two",
        .restrictions = {.commutative = true},
        .rounds = rounds,
        .round = round<block>,
        .scratch = [](const CollectiveArguments& args, int) { return 2 * block(args, args.ranks - 1).end(); },
        .symmetry = block == scattered_part ? by_exclusive_or_of_parts : by_exclusive_or,
        .claims = {.rounds = folded_log_ranks<2>, .max_sent = max_sent<block>, .max_neighbors = folded_log_ranks<1>},
    };
}

const Register reduce_scatter{recursive_halving<scattered_part>("reduce_scatter")};
const Register reduce_scatter_block{recursive_halving<block_of>("reduce_scatter_block")};

}  // namespace
}  // namespace timpani::reduce_scatter_recursive_halving
