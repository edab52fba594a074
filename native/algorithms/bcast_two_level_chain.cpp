// Broadcast over two levels, in segments: along a chain of the leaders of all nodes, group after group, and from
// each leader down a binary tree to the ranks of its node. Each node's link carries the message once each way at
// most, all links at the same time.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"

namespace timpani::bcast_two_level_chain {
namespace {

using Levels = HierarchicalBroadcast<kChainOfNodes>;

const Register entry{{
    .collective = "bcast",
    .name = "two_level_chain",
    .source = "Worringen, LCN 2003",
    .cost = "(n + log₂ p/n + q − 2) (α + βm/q), n nodes, q segments",
    .restrictions = {.topology = true},
    .parameters = {segment_bytes_parameter(32768)},
    .aliases = {},
    .prepare = Levels::prepare,
    .claims = {.rounds = Levels::busy_rounds,
               .most_sent = Levels::most_sent,
               .most_neighbours = Levels::most_neighbours},
}};

}  // namespace
}  // namespace timpani::bcast_two_level_chain
