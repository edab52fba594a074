// Broadcast over three levels, each along a binomial tree: to the leaders of all groups, to the leaders of each
// group's nodes, to the ranks of each node. The message enters each group and each node once.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"

namespace timpani::bcast_three_level {
namespace {

using Levels = HierarchicalBroadcast<kThreeLevels>;

const Register entry{{
    .collective = "bcast",
    .name = "three_level",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) (α + βm), g groups, n nodes",
    .restrictions = {.topology = true},
    .parameters = {segment_bytes_parameter(0)},
    .aliases = {"type_1"},
    .prepare = Levels::prepare,
    .claims = {.rounds = Levels::busy_rounds,
               .most_sent = Levels::most_sent,
               .most_neighbours = Levels::most_neighbours},
}};

}  // namespace
}  // namespace timpani::bcast_three_level
