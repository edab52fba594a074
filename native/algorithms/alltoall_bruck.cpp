// All-to-all by Bruck's algorithm: the block for the rank at distance i around the ring travels there by the digits of
// i to base `radix`. In round k all blocks whose distance has the same nonzero digit at place k travel that distance
// together, packed into one message. Scratch holds the blocks by distance; a last, local round puts them in rank order.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::alltoall_bruck {
namespace {

std::int64_t rounds(const CollectiveArguments& args) { return 2 + ceil_log(args.ranks, args.parameters[0]); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const std::int64_t radix = args.parameters[0];
    const auto blocks = [&](Buffer buffer, std::int64_t first, std::int64_t number) {
        return Region{buffer, first * args.count, number * args.count};
    };
    if (k == 0) {
        steps.copy(blocks(Buffer::send, rank, p - rank), blocks(Buffer::scratch, 0, p - rank));
        steps.copy(blocks(Buffer::send, 0, rank), blocks(Buffer::scratch, p - rank, rank));
        return;
    }
    if (k == rounds(args) - 1) {
        for (int i = 0; i < p; ++i) {
            steps.copy(blocks(Buffer::scratch, i, 1), blocks(Buffer::receive, (rank - i + p) % p, 1));
        }
        return;
    }
    const std::int64_t value = power(radix, static_cast<int>(k - 1));
    const std::int64_t digits = std::min(radix, (p - 1) / value + 1);
    // Calls `visit` with each range of blocks that have the digit, and with the number of blocks before it in the
    // message. Returns the number of blocks in the message.
    const auto for_blocks_with = [&](std::int64_t digit, auto visit) {
        std::int64_t packed = 0;
        for (std::int64_t first = digit * value; first < p; first += radix * value) {
            const std::int64_t number = std::min(value, p - first);
            visit(first, number, packed);
            packed += number;
        }
        return packed;
    };
    std::int64_t outgoing = p;  // in scratch: all blocks, then the packed messages to send, then those received
    std::int64_t incoming = std::int64_t{2} * p;
    for (std::int64_t digit = 1; digit < digits; ++digit) {
        const auto number = for_blocks_with(digit, [&](std::int64_t first, std::int64_t length, std::int64_t packed) {
            steps.copy(blocks(Buffer::scratch, first, length), blocks(Buffer::scratch, outgoing + packed, length));
        });
        const int distance = static_cast<int>(digit * value);
        steps.receive((rank - distance + p) % p, blocks(Buffer::scratch, incoming, number));
        steps.send((rank + distance) % p, blocks(Buffer::scratch, outgoing, number));
        outgoing += number;
        incoming += number;
    }
    incoming = std::int64_t{2} * p;
    for (std::int64_t digit = 1; digit < digits; ++digit) {
        incoming += for_blocks_with(digit, [&](std::int64_t first, std::int64_t length, std::int64_t packed) {
            steps.copy(blocks(Buffer::scratch, incoming + packed, length), blocks(Buffer::scratch, first, length));
        });
    }
}

/// A block takes one hop per nonzero digit of its distance.
std::int64_t max_sent(const CollectiveArguments& args) {
    std::int64_t hops = 0;
    for (std::int64_t distance = 1; distance < args.ranks; ++distance) {
        for (auto rest = distance; rest > 0; rest /= args.parameters[0]) hops += rest % args.parameters[0] > 0 ? 1 : 0;
    }
    return hops * args.count;
}

const Register entry{{
    .collective = "alltoall",
    .name = "bruck",
    .source = "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 1997",
    .cost = "(r−1) ⌈log_r p⌉ (α + βm/r)",
    .parameters = {{"radix", 2, 2, "base of the digits that blocks travel by", kTrialRadices}},
    .aliases = {"brucks", "modified_bruck"},
    .rounds = rounds,
    .round = round,
    .scratch = [](const CollectiveArguments& args, int) { return 3 * args.count * args.ranks; },
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   return ceil_log(args.ranks, args.parameters[0]);
               },
               .max_sent = max_sent,
               .max_neighbors = ranks_at_one_digit<parameter<0>>},
}};

}  // namespace
}  // namespace timpani::alltoall_bruck
