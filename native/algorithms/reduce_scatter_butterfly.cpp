// Reduce-scatter along a butterfly: in round k each rank swaps halves of what it still works on with the one whose
// number differs in bit k. Near ranks meet first, which keeps the order of ranks, so that any operator will do, but
// leaves each rank with the block of its mirror image (its number's bits read backwards), to which it is sent last.
// Ranks beyond the largest power of two hand all to a neighbour first, which works for both.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/blocks.hpp"
#include "schedule/fold.hpp"
#include "schedule/halving.hpp"
#include "schedule/rank_order.hpp"

namespace timpani {
namespace {

std::int64_t rounds(const Shape& shape) { return 2 + floor_log2(shape.ranks); }

template <Blocks block>
void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const Fold fold(shape);
    const int levels = floor_log2(shape.ranks);
    const std::int64_t all = block(shape, shape.ranks - 1).end();
    const Region own{Buffer::send, 0, all};
    const Region sums{Buffer::scratch, 0, all};
    const bool aside = fold.has_proxy(rank);
    const int number = fold.new_rank(aside ? rank + 1 : rank);
    if (k == 0) {
        if (aside) {
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
        const int image = mirrored(number, levels);
        if (aside || image != number) {
            steps.receive(fold.old_rank(image), {Buffer::receive, 0, block(shape, rank).count});
        }
        if (aside) return;
        for (int owner = fold.first_rank(image); owner <= fold.old_rank(image); ++owner) {
            const Region part = region(Buffer::scratch, block(shape, owner));
            if (owner == rank) {
                steps.copy(part, {Buffer::receive, 0, part.count});
            } else {
                steps.send(owner, part);
            }
        }
        return;
    }
    if (aside) return;
    const int exchange = static_cast<int>(k);
    const auto side_of = [&](int who, std::int64_t from) {
        const auto parts = kept(who, levels, exchange);
        auto side = region(Buffer::scratch, block(shape, fold.first_rank(parts.first)),
                           block(shape, fold.old_rank(parts.last)));
        side.first += from;
        return side;
    };
    const int peer = number ^ (1 << (exchange - 1));
    steps.receive(fold.old_rank(peer), side_of(number, all));
    steps.send(fold.old_rank(peer), side_of(peer, 0));
    reduce_in_order(shape, side_of(number, all), side_of(number, 0), peer < number, steps);
}

/// Whether a block changes hands at the end: the image's of a rank that stands aside, or one with another image.
template <Blocks block>
std::int64_t moves_last(const Shape& shape) {
    return !is_power_of_two(shape.ranks) || (shape.ranks > 2 && block(shape, 1).count > 0) ? 1 : 0;
}

/// Who stands aside sends all; else all but the block kept is sent, and that too where it is another's.
template <Blocks block>
std::int64_t most_sent(const Shape& shape) {
    const auto last = block(shape, shape.ranks - 1);
    return shape.ranks <= 2 ? last.first : last.end();
}

/// One a level where anything is left to halve, the one that stands aside, and those whose blocks change hands.
template <Blocks block>
std::int64_t most_neighbours(const Shape& shape) {
    const int levels = floor_log2(shape.ranks);
    const int numbers = 1 << levels;
    const int pairs = shape.ranks - numbers;
    const auto first_rank = [&](int number) { return number + std::min(number, pairs); };
    const auto filled = [&](int rank) { return block(shape, rank).count > 0; };
    std::int64_t most = 0;
    for (int number = 0; number < numbers; ++number) {
        const int image = mirrored(number, levels);
        std::int64_t neighbours = number < pairs ? 1 : 0;
        for (int level = 0; level < levels; ++level) {
            neighbours += filled(first_rank(image >> (levels - level) << (levels - level))) ? 1 : 0;
        }
        if (image != number) {
            const bool pair = image < pairs;
            const int own = first_rank(number) + (number < pairs ? 1 : 0);
            neighbours += filled(own) || filled(first_rank(image) + (pair ? 1 : 0)) ? 1 : 0;
            neighbours += pair && filled(first_rank(image)) ? 1 : 0;
        }
        most = std::max(most, neighbours);
    }
    return most;
}

template <Blocks block>
Algorithm butterfly(std::string_view collective) {
    return {
        .collective = collective,
        .name = "butterfly",
        .source = "Träff, EuroPVM/MPI 2005",
        .cost = "(⌈log₂ p⌉ + 1) α + β m + (p−1)/p γm; α + (β + γ) m more if p is no power of two",
        .restrictions = {},
        .parameters = {},
        .aliases = {},
        .rounds = rounds,
        .round = round<block>,
        .scratch = [](const Shape& shape, int) { return 2 * block(shape, shape.ranks - 1).end(); },
        .claims = {.rounds = [](const Shape& shape) -> std::int64_t {
                       return floor_log2(shape.ranks) + (is_power_of_two(shape.ranks) ? 0 : 1) +
                              moves_last<block>(shape);
                   },
                   .most_sent = most_sent<block>,
                   .most_neighbours = most_neighbours<block>},
    };
}

const Register reduce_scatter{butterfly<scattered_part>("reduce_scatter")};
const Register reduce_scatter_block{butterfly<block_of>("reduce_scatter_block")};

}  // namespace
}  // namespace timpani
