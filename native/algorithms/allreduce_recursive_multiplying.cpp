// Allreduce by recursive multiplying: recursive doubling with a larger radix. In round k all ranks whose numbers differ
// only in digit k exchange their partial results, and each reduces them in rank order. The highest digit has as many
// values as the ranks fill. The remaining ranks, less than half, are folded (schedule/patterns/fold.hpp).

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/fold.hpp"
#include "schedule/patterns/rank_order.hpp"

namespace timpani::allreduce_recursive_multiplying {
namespace {

/// The place value of the highest digit: the largest power of the radix ≤ p.
std::int64_t highest_place_value(const CollectiveArguments& args) {
    const int places = ceil_log(std::int64_t{args.ranks} + 1, args.parameters[0]) - 1;
    return power(args.parameters[0], places);
}

Fold fold_of(const CollectiveArguments& args) {
    const auto highest = static_cast<int>(highest_place_value(args));
    return {args.ranks, args.ranks / highest * highest};
}

std::int64_t rounds(const CollectiveArguments& args) { return 2 + ceil_log(fold_of(args).active, args.parameters[0]); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Fold fold = fold_of(args);
    if (fold_allreduce(fold, args, rank, k, rounds(args), steps)) return;
    const Region mine{Buffer::receive, 0, args.count};
    const auto theirs = [&](std::int64_t index) { return Region{Buffer::scratch, index * args.count, args.count}; };
    const std::int64_t value = power(args.parameters[0], static_cast<int>(k - 1));
    const std::int64_t digits = std::min(args.parameters[0], fold.active / value);
    const int number = fold.new_rank(rank);
    const std::int64_t own_digit = number / value % digits;
    const auto rank_with = [&](std::int64_t digit) {
        return fold.old_rank(static_cast<int>(number + (digit - own_digit) * value));
    };
    const auto from_digit = [&](std::int64_t digit) { return theirs(digit < own_digit ? digit : digit - 1); };
    for (std::int64_t digit = 0; digit < digits; ++digit) {
        if (digit != own_digit) steps.receive(rank_with(digit), from_digit(digit));
    }
    for (std::int64_t digit = 0; digit < digits; ++digit) {
        if (digit != own_digit) steps.send(rank_with(digit), mine);
    }
    // From the lowest digit on at every rank, so that all ranks round in the same way.
    for (std::int64_t digit = 0; digit < own_digit; ++digit) {
        steps.reduce(from_digit(digit), digit + 1 < own_digit ? from_digit(digit + 1) : mine);
    }
    for (std::int64_t digit = own_digit + 1; digit < digits; ++digit) {
        reduce_in_order(args, from_digit(digit), mine, false, steps);
    }
}

std::int64_t left_over(const CollectiveArguments& args) { return args.ranks % highest_place_value(args) > 0 ? 1 : 0; }

/// The ranks whose numbers differ in one digit.
std::int64_t partners(const CollectiveArguments& args) {
    std::int64_t partners = 0;
    std::int64_t rest = args.ranks;
    for (; rest >= args.parameters[0]; rest /= args.parameters[0]) partners += args.parameters[0] - 1;
    return partners + rest - 1;
}

const Register entry{{
    .collective = "allreduce",
    .name = "recursive_multiplying",
    .source = "Ruefenacht, Bull, Booth, Parallel Computing 2017",
    .cost = "⌈log_r p⌉ (α + (r−1) (β + γ) m)",
    .parameters = {{"radix", 4, 2, "base of the digits, one more than the partners in a round", kTrialRadices}},
    .rounds = rounds,
    .round = round,
    .scratch =
        [](const CollectiveArguments& args, int) {
            return std::max<std::int64_t>(1, std::min<std::int64_t>(args.parameters[0], args.ranks) - 1) * args.count;
        },
    .claims = {
        .rounds =
            [](const CollectiveArguments& args) {
                std::int64_t rounds = 2 * left_over(args);
                for (std::int64_t rest = args.ranks; rest > 1; rest /= args.parameters[0]) ++rounds;
                return rounds;
            },
        .max_sent = [](const CollectiveArguments& args) { return (partners(args) + left_over(args)) * args.count; },
        .max_neighbors = [](const CollectiveArguments& args) { return partners(args) + left_over(args); }},
}};

}  // namespace
}  // namespace timpani::allreduce_recursive_multiplying
