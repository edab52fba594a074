// All-to-all by pairwise exchange of nodes. In round k the ranks of each node send to the node k + 1 positions further
// and receive from the node k + 1 positions before, one rank at a time. So no node receives from several others at
// once. Blocks inside a node are sent in the last round.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/hierarchy.hpp"

namespace timpani::alltoall_node_pairwise {
namespace {

template <typename Visit>
void for_segments(const CollectiveArguments& args, const Region& block, const Visit& visit) {
    const Segments segments = Segments::of(args, block.count, args.parameters[0]);
    for (std::int64_t i = 0; i < segments.number(); ++i) visit(segments.region(block, i));
}

/// The segments of one block sent and of one block received, for the longest blocks.
std::int64_t requests(const CollectiveArguments& args) {
    std::int64_t longest = args.count;
    for (const auto count : args.counts) longest = std::max(longest, count);
    return 2 * Segments::of(args, longest, args.parameters[0]).number();
}

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Hierarchy hierarchy(args);
    const Topology& topology = hierarchy.topology();
    const int nodes = hierarchy.nodes();
    const int position = hierarchy.position_of_node(topology.node_of(rank));
    const auto distance = static_cast<int>((k + 1) % nodes);
    const auto to_node = topology.ranks_of(hierarchy.node_at_position((position + distance) % nodes));
    const auto from_node = topology.ranks_of(hierarchy.node_at_position((position - distance + nodes) % nodes));
    // All nodes count as many ranks as the largest; nothing is exchanged for missing ranks.
    const int places = topology.max_ranks_per_node();
    for (int i = 0; i < places; ++i) {
        const auto from = static_cast<std::size_t>((topology.place_of(rank) - i + places) % places);
        const auto to = static_cast<std::size_t>((topology.place_of(rank) + i) % places);
        if (from < from_node.size() && from_node[from] != rank) {
            const auto block = pair_block_of(args, from_node[from], rank);
            for_segments(args, {Buffer::receive, block.at_receiver, block.count},
                         [&](const Region& each) { steps.receive(from_node[from], each); });
        }
        if (to >= to_node.size()) continue;
        const auto [at_sender, at_receiver, count] = pair_block_of(args, rank, to_node[to]);
        const Region sent{Buffer::send, at_sender, count};
        if (to_node[to] != rank) {
            for_segments(args, sent, [&](const Region& each) { steps.send(to_node[to], each); });
        } else {
            steps.copy(sent, {Buffer::receive, at_receiver, count});
        }
    }
}

const RegisterWithV entry{{
    .collective = "alltoall",
    .name = "node_pairwise",
    .source = "pairwise exchange (Thakur, Rabenseifner, Gropp, IJHPCA 2005) of nodes",
    .cost = "(p − 1) α + (n−1)/n βm, n nodes, m leaving a node",
    .restrictions = {.topology = true},
    .parameters = {{"segment_bytes", 32768, 0, "bytes of a message; 0 sends a block whole"}},
    .rounds = [](const CollectiveArguments& args) -> std::int64_t { return args.topology->nodes(); },
    .round = round,
    .requests = requests,
    .claims = {.max_sent = message_to_each, .max_neighbors = other_ranks, .max_leaving_node = blocks_leaving_node},
}};

}  // namespace
}  // namespace timpani::alltoall_node_pairwise
