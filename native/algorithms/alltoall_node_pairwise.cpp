// All-to-all between pairs of nodes: in a round the ranks of each node send to all ranks of the node some places
// further on and receive from those of the node as many places before, so that no link takes what several nodes send at
// once. A round's messages begin as those of the round but one before it end; what stays on nodes goes beside the
// first.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/blocks.hpp"
#include "schedule/teams.hpp"

namespace timpani {
namespace {

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const Teams teams(shape);
    const int nodes = teams.nodes();
    const int local = teams.topology().place_of(rank);
    const int position = teams.place_among_all(teams.topology().node_of(rank));
    const auto distance = static_cast<int>(k < 2 && nodes > 1 ? 1 - k : k);
    const int target = teams.node_among_all((position + distance) % nodes);
    const int source = teams.node_among_all((position - distance + nodes) % nodes);
    const auto member = [&](int node, int place) {
        return teams.topology().ranks_of(node)[static_cast<std::size_t>(place % teams.ranks_on(node))];
    };
    for (int i = 0; i < teams.ranks_on(source); ++i) {
        const int from = member(source, local + i);
        const auto block = pair_block_of(shape, from, rank);
        if (from != rank) steps.receive(from, {Buffer::receive, block.at_receiver, block.count});
    }
    for (int i = 0; i < teams.ranks_on(target); ++i) {
        const int to = member(target, local + i);
        const auto [at_sender, at_receiver, count] = pair_block_of(shape, rank, to);
        if (to != rank) {
            steps.send(to, {Buffer::send, at_sender, count});
        } else {
            steps.copy({Buffer::send, at_sender, count}, {Buffer::receive, at_receiver, count});
        }
    }
}

Algorithm node_pairwise(std::string_view collective) {
    return {
        .collective = collective,
        .name = "node_pairwise",
        .source = "pairwise exchange (Thakur, Rabenseifner, Gropp, IJHPCA 2005) of nodes",
        .cost = "(p − 1) α + (n−1)/n βm, n nodes, m leaving a node",
        .restrictions = {.topology = true},
        .parameters = {},
        .aliases = {},
        .rounds = [](const Shape& shape) -> std::int64_t { return shape.topology->nodes(); },
        .round = round,
        .requests = [](const Shape& shape) -> std::int64_t {
            return std::int64_t{4} * shape.topology->most_ranks_on_a_node();
        },
        .claims = {.most_sent = [](const Shape& shape) { return (shape.ranks - 1) * shape.count; },
                   .most_neighbours = [](const Shape& shape) -> std::int64_t { return shape.ranks - 1; },
                   .most_leaving_node = [](const Shape& shape) -> std::int64_t {
                       std::int64_t most = 0;
                       for (int node = 0; node < shape.topology->nodes(); ++node) {
                           const auto here = static_cast<std::int64_t>(shape.topology->ranks_of(node).size());
                           most = std::max(most, here * (shape.ranks - here) * shape.count);
                       }
                       return most;
                   }},
    };
}

const Register alltoall{node_pairwise("alltoall")};
const Register alltoallv{node_pairwise("alltoallv")};

}  // namespace
}  // namespace timpani
