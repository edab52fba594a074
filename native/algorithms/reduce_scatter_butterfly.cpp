// Reduce-scatter along a butterfly: recursive halving with near ranks first. In round k each rank and the one whose
// number differs in bit k exchange halves of the blocks that they still work on, and each reduces the half that it
// keeps. Each reduction is over consecutive ranks, so any operator is allowed. But a rank ends with the block of the
// rank whose number has its bits in reverse order, and sends it there last. Rank counts that are not a power of two are
// folded (schedule/patterns/fold.hpp).

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/fold.hpp"
#include "schedule/patterns/rank_order.hpp"
#include "schedule/patterns/recursive_halving.hpp"

namespace timpani::reduce_scatter_butterfly {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 2 + floor_log2(args.ranks); }

template <Blocks block>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(args);
    const int levels = floor_log2(args.ranks);
    const std::int64_t all = block(args, args.ranks - 1).end();
    const Region own{Buffer::send, 0, all};
    const Region sums{Buffer::scratch, 0, all};
    const bool inactive = fold.has_proxy(rank);
    const int number = fold.new_rank(inactive ? rank + 1 : rank);
    if (k == 0) {
        if (inactive) {
            steps.send(rank + 1, own);
            return;
        }
        const Region theirs{Buffer::scratch, all, all};
        if (fold.is_proxy(rank)) steps.receive(rank - 1, theirs);
        steps.copy(own, sums);
        if (fold.is_proxy(rank)) steps.reduce(theirs, sums);
        return;
    }
    if (k == levels + 1) {
        const int reversed = bit_reversed(number, levels);
        if (inactive || reversed != number) {
            steps.receive(fold.old_rank(reversed), {Buffer::receive, 0, block(args, rank).count});
        }
        if (inactive) return;
        for (int owner = fold.first_rank(reversed); owner <= fold.old_rank(reversed); ++owner) {
            const Region part = region(Buffer::scratch, block(args, owner));
            if (owner == rank) {
                steps.copy(part, {Buffer::receive, 0, part.count});
            } else {
                steps.send(owner, part);
            }
        }
        return;
    }
    if (inactive) return;
    const int exchange = static_cast<int>(k);
    const auto side_of = [&](int who, std::int64_t from) {
        const auto parts = kept_parts(who, levels, exchange);
        auto side =
            region(Buffer::scratch, block(args, fold.first_rank(parts.first)), block(args, fold.old_rank(parts.last)));
        side.first += from;
        return side;
    };
    const int peer = number ^ (1 << (exchange - 1));
    steps.receive(fold.old_rank(peer), side_of(number, all));
    steps.send(fold.old_rank(peer), side_of(peer, 0));
    reduce_in_order(args, side_of(number, all), side_of(number, 0), peer < number, steps);
}

/// Whether a block is sent at the end: to a rank that has a proxy, or to the rank with the bits reversed.
template <Blocks block>
std::int64_t moves_last(const CollectiveArguments& args) {
    return !is_power_of_two(args.ranks) || (args.ranks > 2 && block(args, 1).count > 0) ? 1 : 0;
}

/// An inactive rank sends its vector. An active rank sends all but the block that it ends with, and that block, too, if
/// it belongs to another rank.
template <Blocks block>
std::int64_t max_sent(const CollectiveArguments& args) {
    const auto last = block(args, args.ranks - 1);
    return args.ranks <= 2 ? last.first : last.end();
}

/// One neighbor for each round with blocks to halve, the rank that it is the proxy of, and the ranks that it exchanges
/// final blocks with.
template <Blocks block>
std::int64_t max_neighbors(const CollectiveArguments& args) {
    const int levels = floor_log2(args.ranks);
    const int numbers = 1 << levels;
    const int pairs = args.ranks - numbers;
    const auto first_rank = [&](int number) { return number + std::min(number, pairs); };
    const auto filled = [&](int rank) { return block(args, rank).count > 0; };
    std::int64_t maximum = 0;
    for (int number = 0; number < numbers; ++number) {
        const int reversed = bit_reversed(number, levels);
        std::int64_t neighbors = number < pairs ? 1 : 0;
        for (int level = 0; level < levels; ++level) {
            neighbors += filled(first_rank(reversed >> (levels - level) << (levels - level))) ? 1 : 0;
        }
        if (reversed != number) {
            const bool pair = reversed < pairs;
            const int own = first_rank(number) + (number < pairs ? 1 : 0);
            neighbors += filled(own) || filled(first_rank(reversed) + (pair ? 1 : 0)) ? 1 : 0;
            neighbors += pair && filled(first_rank(reversed)) ? 1 : 0;
        }
        maximum = std::max(maximum, neighbors);
    }
    return maximum;
}

template <Blocks block>
Algorithm butterfly(std::string_view collective) {
    return {
        .collective = collective,
        .name = "butterfly",
        .source = "Träff, EuroPVM/MPI 2005",
        .cost = "(⌈log₂ p⌉ + 1) α + β m + (p−1)/p γm; α + (β + γ) m more if p is no power of two",
        .rounds = rounds,
        .round = round<block>,
        .scratch = [](const CollectiveArguments& args, int) { return 2 * block(args, args.ranks - 1).end(); },
        .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                       return floor_log2(args.ranks) + (is_power_of_two(args.ranks) ? 0 : 1) + moves_last<block>(args);
                   },
                   .max_sent = max_sent<block>,
                   .max_neighbors = max_neighbors<block>},
    };
}

const Register reduce_scatter{butterfly<scattered_part>("reduce_scatter")};
const Register reduce_scatter_block{butterfly<block_of>("reduce_scatter_block")};

}  // namespace
}  // namespace timpani::reduce_scatter_butterfly
