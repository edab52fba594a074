#include "collectives/collective.hpp"

#include <algorithm>
#include <numeric>

namespace timpani {

namespace {

std::int64_t nothing(const Shape&, int) { return 0; }
std::int64_t one_count(const Shape& shape, int) { return shape.count; }
std::int64_t all_blocks(const Shape& shape, int) { return block_of(shape, shape.ranks - 1).end(); }
std::int64_t own_block(const Shape& shape, int rank) { return block_of(shape, rank).count; }
std::int64_t sent_in_pairs(const Shape& shape, int rank) {
    const auto last = pair_block_of(shape, rank, shape.ranks - 1);
    return last.at_sender + last.count;
}
std::int64_t received_in_pairs(const Shape& shape, int rank) {
    const auto last = pair_block_of(shape, shape.ranks - 1, rank);
    return last.at_receiver + last.count;
}
std::int64_t count_at_root(const Shape& shape, int rank) { return rank == shape.root ? shape.count : 0; }
std::int64_t blocks_at_root(const Shape& shape, int rank) { return rank == shape.root ? all_blocks(shape, rank) : 0; }
std::int64_t count_off_root(const Shape& shape, int rank) { return rank == shape.root ? 0 : shape.count; }
std::int64_t own_part(const Shape& shape, int rank) { return part_of(shape.count, shape.ranks, rank).count; }

using Source = std::optional<Origin>;

Source moved(int rank, std::int64_t index) { return Origin{rank, rank, index}; }
Source sum_of_all(const Shape& shape, std::int64_t index) { return Origin{0, shape.ranks - 1, index}; }

Source no_result(const Shape&, int, std::int64_t) { return std::nullopt; }
Source bcast(const Shape& shape, int, std::int64_t i) { return moved(shape.root, i); }
Source scatter(const Shape& shape, int rank, std::int64_t i) {
    return moved(shape.root, block_of(shape, rank).first + i);
}
Source gather(const Shape& shape, int, std::int64_t i) {
    if (shape.counts.empty()) return moved(static_cast<int>(i / shape.count), i % shape.count);
    std::size_t owner = 0;
    for (; shape.counts[owner] <= i; ++owner) i -= shape.counts[owner];
    return moved(static_cast<int>(owner), i);
}
Source reduce(const Shape& shape, int, std::int64_t i) { return sum_of_all(shape, i); }
Source alltoall(const Shape& shape, int rank, std::int64_t i) {
    if (shape.counts.empty()) return moved(static_cast<int>(i / shape.count), rank * shape.count + i % shape.count);
    const auto sent_here = [&](int sender) {
        return shape.counts[static_cast<std::size_t>(sender) * static_cast<std::size_t>(shape.ranks) +
                            static_cast<std::size_t>(rank)];
    };
    int sender = 0;
    for (; sent_here(sender) <= i; ++sender) i -= sent_here(sender);
    return moved(sender, pair_block_of(shape, sender, rank).at_sender + i);
}
Source reduce_scatter(const Shape& shape, int rank, std::int64_t i) {
    return sum_of_all(shape, part_of(shape.count, shape.ranks, rank).first + i);
}
Source reduce_scatter_block(const Shape& shape, int rank, std::int64_t i) {
    return sum_of_all(shape, rank * shape.count + i);
}
Source scan(const Shape&, int rank, std::int64_t i) { return Origin{0, rank, i}; }
Source exscan(const Shape&, int rank, std::int64_t i) { return rank == 0 ? Source{} : Source{Origin{0, rank - 1, i}}; }

constexpr std::array kCollectives{
    Collective{"barrier", false, nothing, nothing, no_result},
    Collective{"bcast", false, count_at_root, count_off_root, bcast},
    Collective{"gather", false, one_count, blocks_at_root, gather},
    Collective{"scatter", false, blocks_at_root, one_count, scatter},
    Collective{"gatherv", false, own_block, blocks_at_root, gather},
    Collective{"scatterv", false, blocks_at_root, own_block, scatter},
    Collective{"allgatherv", false, own_block, all_blocks, gather},
    Collective{"allgather", false, one_count, all_blocks, gather},
    Collective{"alltoall", false, all_blocks, all_blocks, alltoall},
    Collective{"alltoallv", false, sent_in_pairs, received_in_pairs, alltoall},
    Collective{"reduce", true, one_count, count_at_root, reduce},
    Collective{"allreduce", true, one_count, one_count, reduce},
    Collective{"reduce_scatter_block", true, all_blocks, one_count, reduce_scatter_block},
    Collective{"reduce_scatter", true, one_count, own_part, reduce_scatter},
    Collective{"scan", true, one_count, one_count, scan},
    Collective{"exscan", true, one_count, one_count, exscan},
    Collective{"null", false, nothing, nothing, no_result},
};

}  // namespace

Part block_of(const Shape& shape, int rank) {
    if (shape.counts.empty()) return {rank * shape.count, shape.count};
    std::int64_t first = 0;
    for (int before = 0; before < rank; ++before) first += shape.counts[static_cast<std::size_t>(before)];
    return {first, shape.counts[static_cast<std::size_t>(rank)]};
}

namespace {

/// What `pair_block_of` can say where one rank's blocks are known alone: its places and counts.
PairBlock known_pair_block(const Shape& shape, int sender, int receiver) {
    const auto ranks = static_cast<std::size_t>(shape.ranks);
    const auto block = [](std::span<const std::int64_t> counts, int peer) -> Part {
        const auto before = counts.first(static_cast<std::size_t>(peer));
        return {std::accumulate(before.begin(), before.end(), std::int64_t{0}), counts[before.size()]};
    };
    PairBlock known{};
    if (sender == shape.known_rank) {
        const Part sent = block(shape.counts.first(ranks), receiver);
        known.at_sender = sent.first;
        known.count = sent.count;
    }
    if (receiver == shape.known_rank) {
        const Part received = block(shape.counts.last(ranks), sender);
        known.at_receiver = received.first;
        known.count = received.count;
    }
    return known;
}

}  // namespace

PairBlock pair_block_of(const Shape& shape, int sender, int receiver) {
    if (shape.counts.empty()) return {receiver * shape.count, sender * shape.count, shape.count};
    if (shape.known_rank) return known_pair_block(shape, sender, receiver);
    const auto count = [&](int from, int to) {
        return shape.counts[static_cast<std::size_t>(from) * static_cast<std::size_t>(shape.ranks) +
                            static_cast<std::size_t>(to)];
    };
    PairBlock block{0, 0, count(sender, receiver)};
    for (int before = 0; before < receiver; ++before) block.at_sender += count(sender, before);
    for (int before = 0; before < sender; ++before) block.at_receiver += count(before, receiver);
    return block;
}

std::span<const Collective> collectives() { return kCollectives; }

const Collective* find_collective(std::string_view name) {
    const auto* found = std::ranges::find(kCollectives, name, &Collective::name);
    return found == kCollectives.end() ? nullptr : found;
}

namespace {
constexpr int kEveryRankAdds = 220;  // up to so many ranks each adds 1 to every element, and a byte still holds the sum
constexpr std::int64_t kStride = 7;  // besides, rank r adds 1 to the elements i with r + i a multiple of this
}  // namespace

std::uint64_t contribution(const Collective& collective, int ranks, int rank, std::int64_t index) {
    if (collective.reduces) return expected(collective, ranks, Origin{rank, rank, index});
    return moved_value(rank, index);
}

std::uint64_t moved_value(int rank, std::int64_t index) {
    return static_cast<std::uint64_t>(3 * static_cast<std::int64_t>(rank) + ((5 * index + 11 * (index >> 8)) & 0xff));
}

std::uint64_t expected(const Collective& collective, int ranks, const Origin& origin) {
    if (!collective.reduces) return contribution(collective, ranks, origin.first_rank, origin.index);
    const std::int64_t everywhere = ranks <= kEveryRankAdds ? origin.last_rank - origin.first_rank + 1 : 0;
    const std::int64_t multiples =
        (origin.last_rank + origin.index) / kStride - (origin.first_rank + origin.index + kStride - 1) / kStride + 1;
    return static_cast<std::uint64_t>(everywhere + multiples);
}

Part part_of(std::int64_t count, int ranks, int rank) {
    const std::int64_t whole = count / ranks;
    const std::int64_t longer = count % ranks;
    return {rank * whole + std::min<std::int64_t>(rank, longer), whole + (rank < longer ? 1 : 0)};
}

}  // namespace timpani
