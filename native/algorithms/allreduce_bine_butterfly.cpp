// Allreduce along a Bine butterfly (schedule/patterns/bine.hpp). What a rank reduces comes from a range around it, so
// rank order is lost and the operator must commute. Rank counts that are not a power of two are folded
// (schedule/patterns/fold.hpp).
//
// bine            whole vectors, near ranks first
// bine_allgather  a reduce-scatter of parts, far ranks first, then an allgather in reverse order

#include "schedule/algorithm.hpp"
#include "schedule/patterns/bine.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::allreduce_bine_butterfly {
namespace {

template <bool in_parts>
std::int64_t rounds(const CollectiveArguments& args) {
    return 2 + (in_parts ? 2 : 1) * floor_log2(args.ranks);
}

template <bool in_parts>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    if (fold_allreduce(fold, args, rank, k, rounds<in_parts>(args), steps)) return;
    const BineButterfly butterfly{floor_log2(args.ranks)};
    const bool gathers = in_parts && k > butterfly.levels;
    const int exchange = in_parts && !gathers ? butterfly.levels - static_cast<int>(k)
                                              : static_cast<int>(k) - 1 - (gathers ? butterfly.levels : 0);
    const int number = fold.new_rank(rank);
    const int partner = butterfly.partner(number, exchange);
    const int peer = fold.old_rank(partner);
    const auto visit = [&](int of, const auto& message) {
        if (!in_parts) {
            message(Region{Buffer::receive, 0, args.count});
            return;
        }
        const auto parts = [&](int from, int last) {
            const auto begin = part_of(args.count, fold.active, from).first;
            message(Region{Buffer::receive, begin, part_of(args.count, fold.active, last).end() - begin});
        };
        visit_cyclic_range(fold.active, butterfly.first(of, exchange), 1 << exchange, parts);
    };
    if (gathers) {
        visit(number, [&](const Region& mine) { steps.send(peer, mine); });
        visit(partner, [&](const Region& theirs) { steps.receive(peer, theirs); });
        return;
    }
    const auto received = [&](const Region& kept) { return Region{Buffer::scratch, kept.first, kept.count}; };
    visit(partner, [&](const Region& sent) { steps.send(peer, sent); });
    visit(number, [&](const Region& kept) { steps.receive(peer, received(kept)); });
    visit(number, [&](const Region& kept) { steps.reduce(received(kept), kept); });
}

/// An active rank sends whole vectors; or all but its part, and then what it has gathered before each exchange. In both
/// cases it may finally send the result to the rank that it is the proxy of.
template <bool in_parts>
std::int64_t max_sent(const CollectiveArguments& args) {
    const Fold fold(args);
    const int levels = floor_log2(args.ranks);
    if (!in_parts) return (levels + (fold.pairs > 0 ? 1 : 0)) * args.count;
    std::int64_t maximum = 0;
    for (int number = 0; number < fold.active; ++number) {
        std::int64_t sent = number < fold.pairs ? args.count : 0;
        if (levels > 0) sent += args.count - part_of(args.count, fold.active, number).count;
        for (int k = 0; k < levels; ++k) {
            visit_cyclic_range(fold.active, BineButterfly{levels}.first(number, k), 1 << k, [&](int from, int last) {
                sent += part_of(args.count, fold.active, last).end() - part_of(args.count, fold.active, from).first;
            });
        }
        maximum = std::max(maximum, sent);
    }
    return maximum;
}

template <bool in_parts>
Algorithm bine() {
    return {
        .collective = "allreduce",
        .name = in_parts ? "bine_allgather" : "bine",
        .source = "De Sensi et al., SC 2025",
        .cost = in_parts ? "up to 4⌈log₂ p⌉ α + 2(p−1)/p βm + (p−1)/p γm; 2α + (2β + γ) m more if p is no power of two"
                         : "⌈log₂ p⌉ (α + βm + γm); 2α + (2β + γ) m more if p is no power of two",
        .restrictions = {.commutative = true},
        .rounds = rounds<in_parts>,
        .round = round<in_parts>,
        .scratch = [](const CollectiveArguments& args, int) { return args.count; },
        .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                       return rounds<in_parts>(args) - (is_power_of_two(args.ranks) ? 2 : 0);
                   },
                   .max_sent = max_sent<in_parts>,
                   .max_neighbors = folded_log_ranks<1>},
    };
}

const Register whole{bine<false>()};
const Register parts{bine<true>()};

}  // namespace
}  // namespace timpani::allreduce_bine_butterfly
