// Reduce-scatter along a Bine butterfly (schedule/patterns/bine.hpp), far ranks first: in each exchange a rank sends
// the blocks that its partner works on from then on, and reduces the partner's with its own. Every block ends at its
// owner, but rank order is lost, so the operator must commute. Rank counts that are not a power of two are folded
// (schedule/patterns/fold.hpp).
//
// bine         a range of blocks is one message, or two if it continues at the vector's begin
// bine_blocks  each block is a message

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/bine.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::reduce_scatter_bine_butterfly {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 2 + floor_log2(args.ranks); }

template <Blocks block, bool apart>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    const std::int64_t all = block(args, args.ranks - 1).end();
    const Region own{Buffer::send, 0, all};
    const Region result{Buffer::receive, 0, block(args, rank).count};
    const bool last = k == rounds(args) - 1;
    if (fold.has_proxy(rank)) {
        if (k == 0) steps.send(rank + 1, own);
        if (last) steps.receive(rank + 1, result);
        return;
    }
    const Region sums{Buffer::scratch, 0, all};
    if (k == 0) {
        const Region theirs{Buffer::scratch, all, all};
        if (fold.is_proxy(rank)) steps.receive(rank - 1, theirs);
        steps.copy(own, sums);
        if (fold.is_proxy(rank)) steps.reduce(theirs, sums);
        return;
    }
    if (last) {
        steps.copy(region(sums, block(args, rank)), result);
        if (fold.is_proxy(rank)) steps.send(rank - 1, region(sums, block(args, rank - 1)));
        return;
    }
    const BineButterfly butterfly{floor_log2(args.ranks)};
    const int exchange = butterfly.levels - static_cast<int>(k);
    const int number = fold.new_rank(rank);
    const int partner = butterfly.partner(number, exchange);
    const int peer = fold.old_rank(partner);
    const int numbers = 1 << exchange;
    const auto visit = [&](int of, const auto& message) {
        const auto blocks = [&](int from, int to) {
            message(region(Buffer::scratch, block(args, fold.first_rank(from)), block(args, fold.old_rank(to))));
        };
        const int first = butterfly.first(of, exchange);
        for (int at = 0; at < (apart ? numbers : 1); ++at) {
            visit_cyclic_range(fold.active, (first + at) % fold.active, apart ? 1 : numbers, blocks);
        }
    };
    const auto received = [&](const Region& kept) { return Region{Buffer::scratch, all + kept.first, kept.count}; };
    visit(partner, [&](const Region& sent) { steps.send(peer, sent); });
    visit(number, [&](const Region& kept) { steps.receive(peer, received(kept)); });
    visit(number, [&](const Region& kept) { steps.reduce(received(kept), kept); });
}

/// An inactive rank sends its whole vector. If all ranks are active, each sends all but its own block.
template <Blocks block>
std::int64_t max_sent(const CollectiveArguments& args) {
    const auto last = block(args, args.ranks - 1);
    return is_power_of_two(args.ranks) ? last.first : last.end();
}

template <Blocks block, bool apart>
Algorithm bine(std::string_view collective) {
    return {
        .collective = collective,
        .name = apart ? "bine_blocks" : "bine",
        .source = "De Sensi et al., SC 2025",
        .cost = apart ? "(p−1) α + (p−1)/p (β + γ) m; more if p is no power of two"
                      : "up to 2⌈log₂ p⌉ α + (p−1)/p (β + γ) m; 2α + (β + γ) m more if p is no power of two",
        .restrictions = {.commutative = true},
        .rounds = rounds,
        .round = round<block, apart>,
        .scratch = [](const CollectiveArguments& args, int) { return 2 * block(args, args.ranks - 1).end(); },
        .claims = {.rounds = folded_log_ranks<2>, .max_sent = max_sent<block>, .max_neighbors = folded_log_ranks<1>},
    };
}

const Register ranges{bine<scattered_part, false>("reduce_scatter")};
const Register blocks{bine<scattered_part, true>("reduce_scatter")};
const Register equal_ranges{bine<block_of, false>("reduce_scatter_block")};
const Register equal_blocks{bine<block_of, true>("reduce_scatter_block")};

}  // namespace
}  // namespace timpani::reduce_scatter_bine_butterfly
