// All-to-all by Bruck: the block for the rank i further round the ring travels there by i's digits, in round k by the
// digit of place value radixᵏ, together with all others that have the same digit there. Blocks are kept by distance in
// scratch, packed for each message, and turned into place at the end.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani::alltoall_bruck {
namespace {

std::int64_t rounds(const Shape& shape) { return 2 + ceil_log(shape.ranks, shape.parameters[0]); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const int p = shape.ranks;
    const std::int64_t radix = shape.parameters[0];
    const auto blocks = [&](Buffer buffer, std::int64_t first, std::int64_t number) {
        return Region{buffer, first * shape.count, number * shape.count};
    };
    if (k == 0) {
        steps.copy(blocks(Buffer::send, rank, p - rank), blocks(Buffer::scratch, 0, p - rank));
        steps.copy(blocks(Buffer::send, 0, rank), blocks(Buffer::scratch, p - rank, rank));
        return;
    }
    if (k == rounds(shape) - 1) {
        for (int i = 0; i < p; ++i) {
            steps.copy(blocks(Buffer::scratch, i, 1), blocks(Buffer::receive, (rank - i + p) % p, 1));
        }
        return;
    }
    const std::int64_t value = power(radix, static_cast<int>(k - 1));
    const std::int64_t digits = std::min(radix, (p - 1) / value + 1);
    // Calls `at` with each run of blocks that have the digit, and with how many blocks lie before it in the message.
    const auto runs = [&](std::int64_t digit, auto at) {
        std::int64_t packed = 0;
        for (std::int64_t first = digit * value; first < p; first += radix * value) {
            const std::int64_t number = std::min(value, p - first);
            at(first, number, packed);
            packed += number;
        }
        return packed;
    };
    std::int64_t outgoing = p;  // scratch: all blocks, then those that leave, then those that come
    std::int64_t incoming = 2 * p;
    for (std::int64_t digit = 1; digit < digits; ++digit) {
        const auto number = runs(digit, [&](std::int64_t first, std::int64_t run, std::int64_t packed) {
            steps.copy(blocks(Buffer::scratch, first, run), blocks(Buffer::scratch, outgoing + packed, run));
        });
        const int distance = static_cast<int>(digit * value);
        steps.receive((rank - distance + p) % p, blocks(Buffer::scratch, incoming, number));
        steps.send((rank + distance) % p, blocks(Buffer::scratch, outgoing, number));
        outgoing += number;
        incoming += number;
    }
    incoming = 2 * p;
    for (std::int64_t digit = 1; digit < digits; ++digit) {
        incoming += runs(digit, [&](std::int64_t first, std::int64_t run, std::int64_t packed) {
            steps.copy(blocks(Buffer::scratch, incoming + packed, run), blocks(Buffer::scratch, first, run));
        });
    }
}

/// A block takes as many hops as its distance has digits other than 0.
std::int64_t most_sent(const Shape& shape) {
    std::int64_t hops = 0;
    for (std::int64_t distance = 1; distance < shape.ranks; ++distance) {
        for (auto rest = distance; rest > 0; rest /= shape.parameters[0])
            hops += rest % shape.parameters[0] > 0 ? 1 : 0;
    }
    return hops * shape.count;
}

/// Those whose distance has one digit other than 0, either way round.
std::int64_t most_neighbours(const Shape& shape) {
    const auto one_digit = [&](std::int64_t distance) {
        while (distance % shape.parameters[0] == 0) distance /= shape.parameters[0];
        return distance < shape.parameters[0];
    };
    std::int64_t distinct = 0;
    for (int other = 1; other < shape.ranks; ++other) {
        distinct += one_digit(other) || one_digit(shape.ranks - other) ? 1 : 0;
    }
    return distinct;
}

const Register entry{{
    .collective = "alltoall",
    .name = "bruck",
    .source = "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 1997",
    .cost = "(r−1) ⌈log_r p⌉ (α + βm/r)",
    .restrictions = {},
    .parameters = {{"radix", 2, 2, "base of the digits that blocks travel by", kTrialRadices}},
    .aliases = {"brucks", "modified_bruck"},
    .rounds = rounds,
    .round = round,
    .scratch = [](const Shape& shape, int) { return 3 * shape.ranks * shape.count; },
    .claims = {.rounds = [](const Shape& shape) -> std::int64_t { return ceil_log(shape.ranks, shape.parameters[0]); },
               .most_sent = most_sent,
               .most_neighbours = most_neighbours},
}};

}  // namespace
}  // namespace timpani::alltoall_bruck
