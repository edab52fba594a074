// Allreduce by Rabenseifner's algorithm: a reduce-scatter by recursive halving, then an allgather by recursive
// doubling. Halving exchanges with the rank whose number differs in bit 0, 1, 2…, near ranks first. So each reduction
// is over consecutive ranks, and any operator is allowed. Doubling takes the bits in reverse order. Rank counts that
// are not a power of two are folded (schedule/patterns/fold.hpp).

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/fold.hpp"
#include "schedule/patterns/rank_order.hpp"
#include "schedule/patterns/recursive_halving.hpp"

namespace timpani::allreduce_rabenseifner {
namespace {

class Allreduce {
  public:
    explicit Allreduce(const CollectiveArguments& args)
        : args_(args), fold_(args), levels_(floor_log2(args.ranks)), parts_(args.count, 1 << levels_) {}

    [[nodiscard]] std::int64_t rounds() const { return 2 + 2 * levels_; }

    void round(int rank, std::int64_t k, Steps& steps) const {
        if (fold_allreduce(fold_, args_, rank, k, rounds(), steps)) return;
        const bool gathers = k > levels_;
        const int bit = static_cast<int>(gathers ? std::int64_t{2} * levels_ - k : k - 1);
        const int number = fold_.new_rank(rank);
        const int peer = fold_.old_rank(number ^ (1 << bit));
        const bool has_upper = (number >> bit & 1) == 1;
        // Before the exchange for this bit, the rank and the peer share a range of parts, and each keeps half of it.
        const int first = kept_parts(number, levels_, bit).first;
        const int half = 1 << (levels_ - bit - 1);
        const auto side = [&](Buffer buffer, bool upper) {
            const auto begin = parts_.first(upper ? first + half : first);
            return Region{buffer, begin, parts_.first(first + (upper ? 2 * half : half)) - begin};
        };
        const Region mine = side(Buffer::receive, has_upper);
        const Region others = side(Buffer::receive, !has_upper);
        if (gathers) {
            steps.receive(peer, others);
            steps.send(peer, mine);
        } else {
            const Region theirs{Buffer::scratch, mine.first, mine.count};
            steps.receive(peer, theirs);
            steps.send(peer, others);
            reduce_in_order(args_, theirs, mine, has_upper, steps);
        }
    }

  private:
    const CollectiveArguments& args_;
    Fold fold_;
    int levels_;
    Parts parts_;
};

/// New rank 0 sends the most, since it keeps the lower half each time. In the reduce-scatter it sends all but its part.
/// In the allgather it sends its part, twice that, … half of all. Finally it sends the result to the rank that it is
/// the proxy of.
std::int64_t max_sent(const CollectiveArguments& args) {
    const int parts = 1 << floor_log2(args.ranks);
    std::int64_t sent = args.ranks > parts ? args.count : 0;
    if (parts > 1) sent += args.count - part_of(args.count, parts, 0).count;
    for (int gathered = 1; gathered < parts; gathered *= 2) sent += part_of(args.count, parts, gathered).first;
    return sent;
}

const Register entry{{
    .collective = "allreduce",
    .name = "rabenseifner",
    .source = "Rabenseifner, ICCS 2004",
    .cost = "2⌈log₂ p⌉ α + 2(p−1)/p βm + (p−1)/p γm; 2α + (2β + γ) m more if p is no power of two",
    .aliases = {"reduce_scatter_allgather"},
    .prepare = prepared<Allreduce>,
    .scratch = [](const CollectiveArguments& args, int) { return args.count; },
    .symmetry = by_exclusive_or_of_parts,
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   return 2 * floor_log2(args.ranks) + (is_power_of_two(args.ranks) ? 0 : 2);
               },
               .max_sent = max_sent,
               .max_neighbors = folded_log_ranks<1>},
}};

}  // namespace
}  // namespace timpani::allreduce_rabenseifner
