#include "execute/packed_blocks.hpp"

namespace timpani {

namespace {

/// A block of a buffer by the number of the rank that sends or receives it.
template <typename BlockOf>
std::vector<PackedBlock> blocks(const CollectiveArguments& args, std::span<const int> displacements,
                                BlockOf block_of_peer) {
    std::vector<PackedBlock> found;
    for (int peer = 0; peer < args.ranks; ++peer) {
        const Part block = block_of_peer(peer);
        const auto displacement = displacements.empty() ? block.first : displacements[static_cast<std::size_t>(peer)];
        found.push_back({displacement, block.first, block.count});
    }
    return found;
}

std::vector<PackedBlock> whole(std::int64_t elements) { return {{0, 0, elements}}; }

bool gathers(const Collective& collective) { return collective.receive.content == Content::blocks; }
bool scatters(const Collective& collective) {
    return collective.send.content == Content::blocks && !collective.reduces();
}
bool in_pairs(const Collective& collective) { return collective.send.content == Content::pairs; }

}  // namespace

std::vector<PackedBlock> send_blocks(const Collective& collective, const CollectiveArguments& args, int rank,
                                     const Displacements& where) {
    const auto elements = collective.send_elements(args, rank);
    if (elements == 0) return {};
    if (scatters(collective)) return blocks(args, where.send, [&](int to) { return block_of(args, to); });
    if (!in_pairs(collective)) return whole(elements);
    return blocks(args, where.send, [&](int to) {
        const auto block = pair_block_of(args, rank, to);
        return Part{block.at_sender, block.count};
    });
}

std::vector<PackedBlock> receive_blocks(const Collective& collective, const CollectiveArguments& args, int rank,
                                        const Displacements& where) {
    const auto elements = collective.receive_elements(args, rank);
    if (elements == 0) return {};
    if (gathers(collective)) return blocks(args, where.receive, [&](int from) { return block_of(args, from); });
    if (!in_pairs(collective)) return whole(elements);
    return blocks(args, where.receive, [&](int from) {
        const auto block = pair_block_of(args, from, rank);
        return Part{block.at_receiver, block.count};
    });
}

std::vector<PackedBlock> in_place_blocks(const Collective& collective, const CollectiveArguments& args, int rank,
                                         const Displacements& where) {
    // A rank's block is sent from where the block from that rank will arrive: MPI requires both to have one size.
    if (in_pairs(collective)) return receive_blocks(collective, args, rank, where);
    if (!gathers(collective)) return whole(collective.send_elements(args, rank));
    const auto received = receive_blocks(collective, args, rank, where);
    if (received.empty()) return {};
    PackedBlock own = received[static_cast<std::size_t>(rank)];
    own.offset = 0;
    return {own};
}

}  // namespace timpani
