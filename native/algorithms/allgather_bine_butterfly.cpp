// Allgather along a Bine butterfly (schedule/patterns/bine.hpp), near ranks first: in each exchange two ranks send each
// other all that they have. Rank counts that are not a power of two are folded (schedule/patterns/fold.hpp).
//
// bine         a range of blocks is one message, or two if it continues at the buffer's begin
// bine_blocks  each block is a message

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/bine.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::allgather_bine_butterfly {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 2 + floor_log2(args.ranks); }

template <bool apart>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    const Region own{Buffer::send, 0, block_of(args, rank).count};
    const auto of_ranks = [&](int first, int last) {
        return region(Buffer::receive, block_of(args, first), block_of(args, last));
    };
    if (k == 0) {
        if (fold.has_proxy(rank)) steps.send(rank + 1, own);
        if (!fold.has_proxy(rank)) steps.copy(own, of_ranks(rank, rank));
        if (fold.is_proxy(rank)) steps.receive(rank - 1, of_ranks(rank - 1, rank - 1));
        return;
    }
    if (k == rounds(args) - 1) {
        if (fold.has_proxy(rank)) steps.receive(rank + 1, of_ranks(0, args.ranks - 1));
        if (fold.is_proxy(rank)) steps.send(rank - 1, of_ranks(0, args.ranks - 1));
        return;
    }
    const int number = fold.new_rank(rank);
    if (number < 0) return;
    const BineButterfly butterfly{floor_log2(args.ranks)};
    const int exchange = static_cast<int>(k - 1);
    const int partner = butterfly.partner(number, exchange);
    const int peer = fold.old_rank(partner);
    const int numbers = 1 << exchange;
    const auto visit = [&](int of, const auto& message) {
        const auto blocks = [&](int from, int last) { message(of_ranks(fold.first_rank(from), fold.old_rank(last))); };
        const int first = butterfly.first(of, exchange);
        for (int at = 0; at < (apart ? numbers : 1); ++at) {
            visit_cyclic_range(fold.active, (first + at) % fold.active, apart ? 1 : numbers, blocks);
        }
    };
    visit(number, [&](const Region& blocks) { steps.send(peer, blocks); });
    visit(partner, [&](const Region& blocks) { steps.receive(peer, blocks); });
}

/// An active rank sends what it has in each exchange, and all blocks to the rank that it is the proxy of.
std::int64_t max_sent(const CollectiveArguments& args) {
    const Fold fold(args);
    const BineButterfly butterfly{floor_log2(args.ranks)};
    std::int64_t maximum = 0;
    for (int number = 0; number < fold.active; ++number) {
        std::int64_t blocks = number < fold.pairs ? args.ranks : 0;
        for (int k = 0; k < butterfly.levels; ++k) {
            const int first = butterfly.first(number, k);
            const int end = first + (1 << k);
            blocks += end - first + std::max(0, std::min(end, fold.pairs) - first) +
                      std::max(0, std::min(end - fold.active, fold.pairs));
        }
        maximum = std::max(maximum, blocks);
    }
    return maximum * args.count;
}

template <bool apart>
Algorithm bine(std::string_view name) {
    return {
        .collective = "allgather",
        .name = name,
        .source = "De Sensi et al., SC 2025",
        .cost = apart ? "(p−1) α + (p−1)/p βm; more if p is no power of two"
                      : "up to 2⌈log₂ p⌉ α + (p−1)/p βm; 2α + (p+1)/p βm more if p is no power of two",
        .rounds = rounds,
        .round = round<apart>,
        .claims = {.rounds = folded_log_ranks<2>, .max_sent = max_sent, .max_neighbors = folded_log_ranks<1>},
    };
}

const RegisterWithV ranges{bine<false>("bine")};
const RegisterWithV blocks{bine<true>("bine_blocks")};

}  // namespace
}  // namespace timpani::allgather_bine_butterfly
