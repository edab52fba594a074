// Reduce over two levels, in segments: up a binary tree from the ranks of each node to its leader, and along a chain
// of the leaders of all nodes, group after group, to the root. Each node's link carries the vector once each way at
// most, all links at the same time. The operator must commute.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"

namespace timpani::reduce_two_level_chain {
namespace {

using Levels = HierarchicalReduction<kChainOfNodes>;

const Register entry{{
    .collective = "reduce",
    .name = "two_level_chain",
    .source = "Worringen, LCN 2003",
    .cost = "(n + log₂ p/n + q − 2) (α + (β + γ) m/q), n nodes, q segments",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {segment_bytes_parameter(32768)},
    .aliases = {},
    .prepare = Levels::prepare,
    .scratch = Levels::scratch,
    .claims = {.rounds = Levels::busy_rounds,
               .most_sent = Levels::most_sent,
               .most_neighbours = Levels::most_neighbours},
}};

}  // namespace
}  // namespace timpani::reduce_two_level_chain
