#include "collectives/collective.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

namespace timpani {

namespace {

constexpr std::array kCollectives{
#define COLLECTIVE(name, title, size_meaning, senders, sent, receivers, received, result, counts) \
    Collective{#name,                                                                             \
               {Holders::senders, Content::sent},                                                 \
               {Holders::receivers, Content::received},                                           \
               Result::result,                                                                    \
               BlockCounts::counts},
#include "collectives/operations.def"
};

/// Elements of a buffer that `rank` uses; `received` selects the receiver's side of a pair.
std::int64_t elements_of(Content content, bool received, const CollectiveArguments& args, int rank) {
    switch (content) {
        case Content::nothing:
            return 0;
        case Content::vector:
            return args.count;
        case Content::part:
            return part_of(args.count, args.ranks, rank).count;
        case Content::block:
            return block_of(args, rank).count;
        case Content::blocks:
            return block_of(args, args.ranks - 1).end();
        case Content::pairs: {
            const int last = args.ranks - 1;
            const auto block = received ? pair_block_of(args, last, rank) : pair_block_of(args, rank, last);
            return (received ? block.at_receiver : block.at_sender) + block.count;
        }
    }
    return 0;
}

/// The owner of element `i` in the vector of all blocks, and the element's index within the owner's block.
Origin owner_of(const CollectiveArguments& args, std::int64_t i) {
    int owner = 0;
    if (args.counts.empty()) {
        owner = static_cast<int>(i / args.count);
        i %= args.count;
    } else {
        for (; args.counts[static_cast<std::size_t>(owner)] <= i; ++owner) {
            i -= args.counts[static_cast<std::size_t>(owner)];
        }
    }
    return {owner, owner, i};
}

/// The same for the blocks that all ranks send to `rank`, with the element's place in its sender's buffer.
Origin sender_of(const CollectiveArguments& args, int rank, std::int64_t i) {
    if (args.counts.empty()) {
        const int sender = static_cast<int>(i / args.count);
        return {sender, sender, rank * args.count + i % args.count};
    }
    const auto sent_here = [&](int sender) {
        return args.counts[static_cast<std::size_t>(sender) * static_cast<std::size_t>(args.ranks) +
                           static_cast<std::size_t>(rank)];
    };
    int sender = 0;
    for (; sent_here(sender) <= i; ++sender) i -= sent_here(sender);
    return {sender, sender, pair_block_of(args, sender, rank).at_sender + i};
}

/// Index in the contributed vectors of element `i` of what `rank` receives.
std::int64_t contributed_index(const Collective& collective, const CollectiveArguments& args, int rank,
                               std::int64_t i) {
    if (collective.receive.content == Content::part) return part_of(args.count, args.ranks, rank).first + i;
    if (collective.receive.content == Content::block) return block_of(args, rank).first + i;
    return i;
}

}  // namespace

InPlace Collective::in_place() const {
    if (result == Result::none || one_buffer()) return InPlace::never;
    if (receive.holders == Holders::root) return InPlace::send_at_root;
    return send.holders == Holders::root ? InPlace::receive_at_root : InPlace::send;
}

std::int64_t Collective::send_elements(const CollectiveArguments& args, int rank) const {
    return send.used_by(rank, args.root) ? elements_of(send.content, false, args, rank) : 0;
}

std::int64_t Collective::receive_elements(const CollectiveArguments& args, int rank) const {
    return receive.used_by(rank, args.root) ? elements_of(receive.content, true, args, rank) : 0;
}

Part Collective::contributed_in_place(const CollectiveArguments& args, int rank) const {
    // A rank's block is sent from where the block from that rank will arrive: MPI requires both to have one size.
    if (send.content == Content::pairs) return {0, receive_elements(args, rank)};
    return receive.content == Content::blocks ? block_of(args, rank) : Part{0, send_elements(args, rank)};
}

std::optional<Origin> Collective::origin(const CollectiveArguments& args, int rank, std::int64_t i) const {
    const auto index = [&] { return contributed_index(*this, args, rank, i); };
    switch (result) {
        case Result::none:
            return std::nullopt;
        case Result::moved:
            if (receive.content == Content::blocks) return owner_of(args, i);
            if (receive.content == Content::pairs) return sender_of(args, rank, i);
            return Origin{args.root, args.root, index()};
        case Result::sum:
            return Origin{0, args.ranks - 1, index()};
        case Result::prefix:
            return Origin{0, rank, index()};
        case Result::prefix_before:
            if (rank == 0) return std::nullopt;
            return Origin{0, rank - 1, index()};
    }
    return std::nullopt;
}

std::int64_t Collective::largest_argument(const CollectiveArguments& args) const {
    if (by_arrays(send) || by_arrays(receive)) return std::max(args.count, (args.ranks - 1) * args.count);
    return receive.content == Content::part ? part_of(args.count, args.ranks, 0).count : args.count;
}

std::int64_t Collective::end_of_run(const CollectiveArguments& args, int rank, std::int64_t i) const {
    const auto from = origin(args, rank, i);
    if (!from || result != Result::moved || !receive.in_blocks()) return receive_elements(args, rank);
    if (receive.content == Content::blocks) return block_of(args, from->first_rank).end();
    const PairBlock block = pair_block_of(args, from->first_rank, rank);
    return block.at_receiver + block.count;
}

namespace {

Part block_in(std::span<const std::int64_t> counts, int rank) {
    const auto before = counts.first(static_cast<std::size_t>(rank));
    return {std::accumulate(before.begin(), before.end(), std::int64_t{0}), counts[before.size()]};
}

/// `pair_block_of` if only one rank's blocks are known: its places and counts.
PairBlock known_pair_block(const CollectiveArguments& args, int sender, int receiver) {
    const auto ranks = static_cast<std::size_t>(args.ranks);
    PairBlock known{};
    if (sender == args.known_rank) {
        const Part sent = block_in(args.counts.first(ranks), receiver);
        known.at_sender = sent.first;
        known.count = sent.count;
    }
    if (receiver == args.known_rank) {
        const Part received = block_in(args.counts.last(ranks), sender);
        known.at_receiver = received.first;
        known.count = received.count;
    }
    return known;
}

}  // namespace

Part block_of(const CollectiveArguments& args, int rank) {
    if (args.counts.empty()) return {rank * args.count, args.count};
    return block_in(args.counts, rank);
}

PairBlock pair_block_of(const CollectiveArguments& args, int sender, int receiver) {
    if (args.counts.empty()) return {receiver * args.count, sender * args.count, args.count};
    if (args.known_rank) return known_pair_block(args, sender, receiver);
    const auto count = [&](int from, int to) {
        return args.counts[static_cast<std::size_t>(from) * static_cast<std::size_t>(args.ranks) +
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
/// Up to this rank count each rank adds 1 to every element. The sum fits into a byte.
constexpr int kEveryRankAdds = 220;
/// Rank r also adds 1 to elements i with r + i a multiple of this.
constexpr std::int64_t kStride = 7;
/// For products only ranks below this do. The product fits into a byte.
constexpr int kRanksThatMultiply = 49;

/// What `few` ranks that contribute `low` and `many` that contribute `low` + 1 make together.
std::int64_t combined(Combination combination, std::int64_t low, std::int64_t few, std::int64_t many) {
    const std::int64_t high = low + 1;
    switch (combination) {
        case Combination::sum:
            return low * few + high * many;
        case Combination::prod:
            return std::int64_t{1} << many;  // `low` is 1
        case Combination::max:
            return many > 0 ? high : low;
        case Combination::min:
            return few > 0 ? low : high;
        case Combination::land:
            return few == 0 || low > 0 ? 1 : 0;
        case Combination::lor:
            return many > 0 || low > 0 ? 1 : 0;
        case Combination::lxor:
            return (many + (low > 0 ? few : 0)) % 2;
        case Combination::band:
            return (few > 0 ? low : high) & (many > 0 ? high : low);
        case Combination::bor:
            return (few > 0 ? low : 0) | (many > 0 ? high : 0);
        case Combination::bxor:
            return (few % 2 != 0 ? low : 0) ^ (many % 2 != 0 ? high : 0);
    }
    return 0;
}
}  // namespace

void fill_from(const Collective& collective, int ranks, const Origin& origin, std::span<std::uint64_t> values,
               Combination combination) {
    std::int64_t index = origin.index;
    if (!collective.reduces()) {
        for (auto& value : values) value = moved_value(origin.first_rank, index++);
        return;
    }
    const bool multiplies = combination == Combination::prod;
    const std::int64_t low = multiplies || ranks <= kEveryRankAdds ? 1 : 0;
    const std::int64_t contributing = origin.last_rank - origin.first_rank + 1;
    const int last = multiplies ? std::min(origin.last_rank, kRanksThatMultiply - 1) : origin.last_rank;
    for (auto& value : values) {
        const std::int64_t multiples = std::max<std::int64_t>(
            0, (last + index) / kStride - (origin.first_rank + index + kStride - 1) / kStride + 1);
        value = static_cast<std::uint64_t>(combined(combination, low, contributing - multiples, multiples));
        ++index;
    }
}

Controls read_controls(std::string_view text) {
    Controls controls;
    while (!text.empty()) {
        const auto one = text.substr(0, text.find(','));
        const auto equals = std::min(one.find('='), one.size());
        const char* const end = one.data() + one.size();
        int value = -1;
        const auto [read, error] = std::from_chars(std::min(one.data() + equals + 1, end), end, value);
        if (equals == 0 || read != end || error != std::errc{} || value < 0) {
            throw std::runtime_error(std::string(one) + " is not a control variable and its value, such as name=1");
        }
        controls.emplace_back(one.substr(0, equals), value);
        text.remove_prefix(std::min(one.size() + 1, text.size()));
    }
    return controls;
}

}  // namespace timpani
