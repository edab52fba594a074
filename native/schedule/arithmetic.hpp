#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "collectives/collective.hpp"
#include "schedule/step.hpp"

namespace timpani {

// Arithmetic that algorithms share: logarithms, ranks counted from the root, segments.

constexpr bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

constexpr int floor_log2(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1; }
constexpr int ceil_log2(std::int64_t n) { return n <= 1 ? 0 : floor_log2(n - 1) + 1; }

// To base 2, which most trees have, bit operations suffice. A simulation computes millions of ranks.

/// ⌈log_radix n⌉; 0 for n ≤ 1.
constexpr int ceil_log(std::int64_t n, std::int64_t radix) {
    if (radix == 2) return ceil_log2(n);
    int digits = 0;
    for (std::int64_t reach = 1; reach < n; reach *= radix) ++digits;
    return digits;
}
/// 1 for negative exponents, too.
constexpr std::int64_t power(std::int64_t base, int exponent) {
    if (base == 2) return std::int64_t{1} << std::max(0, exponent);
    std::int64_t result = 1;
    for (int i = 0; i < exponent; ++i) result *= base;
    return result;
}

/// Whether `number` > 0 has one nonzero digit to base `radix`.
constexpr bool has_one_digit(std::int64_t number, std::int64_t radix) {
    while (number % radix == 0) number /= radix;
    return number < radix;
}

/// `rank` counted from the root, which is 0; and the inverse.
constexpr int relative_rank(const CollectiveArguments& args, int rank) {
    return (rank - args.root + args.ranks) % args.ranks;
}
constexpr int absolute_rank(const CollectiveArguments& args, int relative) {
    return (relative + args.root) % args.ranks;
}

/// The buffer with a broadcast's data at `rank`: the root's send buffer, the others' receive buffer.
constexpr Buffer data_of(const CollectiveArguments& args, int rank) {
    return rank == args.root ? Buffer::send : Buffer::receive;
}

/// A vector of `count` elements cut into segments of equal length, the last one shorter. At least one segment.
struct Segments {
    std::int64_t count;
    std::int64_t length;

    /// `segment_bytes` 0 or larger than the vector: one segment.
    static constexpr Segments of(const CollectiveArguments& args, std::int64_t segment_bytes) {
        return of(args, args.count, segment_bytes);
    }
    /// The same for `count` of the elements.
    static constexpr Segments of(const CollectiveArguments& args, std::int64_t count, std::int64_t segment_bytes) {
        const std::int64_t wanted = segment_bytes / std::max<std::int64_t>(1, args.element_bytes);
        const bool whole = segment_bytes <= 0 || wanted >= count;
        return {count, std::max<std::int64_t>(1, whole ? count : wanted)};
    }
    [[nodiscard]] constexpr std::int64_t number() const {
        return std::max<std::int64_t>(1, (count + length - 1) / length);
    }
    [[nodiscard]] constexpr bool has(std::int64_t index) const { return index >= 0 && index < number(); }
    [[nodiscard]] constexpr Region region(Buffer buffer, std::int64_t index) const {
        return region({buffer, 0, count}, index);
    }
    /// The segment of a vector that starts elsewhere, and may be shorter.
    [[nodiscard]] constexpr Region region(const Region& whole, std::int64_t index) const {
        const std::int64_t first = index * length;
        return {whole.buffer, whole.first + first, std::clamp<std::int64_t>(whole.count - first, 0, length)};
    }
};

// Blocks of a buffer, and ranges of consecutive ones, as regions.

/// The block of `rank` in the vector that a collective scatters or gathers.
using Blocks = Part (*)(const CollectiveArguments&, int rank);

/// The part that reduce_scatter leaves at each rank; for reduce_scatter_block see block_of.
inline Part scattered_part(const CollectiveArguments& args, int rank) { return part_of(args.count, args.ranks, rank); }

constexpr Region region(Buffer buffer, const Part& block) { return {buffer, block.first, block.count}; }

/// A part of a region.
constexpr Region region(const Region& whole, const Part& part) {
    return {whole.buffer, whole.first + part.first, part.count};
}

/// All blocks from `first` to `last`, both included.
constexpr Region region(Buffer buffer, const Part& first, const Part& last) {
    return {buffer, first.first, last.first + last.count - first.first};
}

}  // namespace timpani
