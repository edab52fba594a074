// Broadcast over two levels, each along a binomial tree: to the leaders of all nodes, then to the ranks of each
// node. The message enters each node once.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"

namespace timpani::bcast_two_level {
namespace {

using Levels = HierarchicalBroadcast<kTwoLevels>;

const Register entry{{
    .collective = "bcast",
    .name = "two_level",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(⌈log₂ n⌉ + ⌈log₂ p/n⌉) (α + βm), n nodes",
    .restrictions = {.topology = true},
    .parameters = {segment_bytes_parameter(0)},
    .aliases = {"type_2"},
    .prepare = Levels::prepare,
    .claims = {.rounds = Levels::busy_rounds,
               .most_sent = Levels::most_sent,
               .most_neighbours = Levels::most_neighbours},
}};

}  // namespace
}  // namespace timpani::bcast_two_level
