// Broadcast over two levels: the root starts to send to the leaders of all nodes at once, and each leader sends the
// message along a binomial tree to the ranks of its node.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"

namespace timpani::bcast_two_level_linear {
namespace {

using Levels = HierarchicalBroadcast<kRootToAllNodes>;

const Register entry{{
    .collective = "bcast",
    .name = "two_level_linear",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(n − 1 + ⌈log₂ p/n⌉) (α + βm), n nodes",
    .restrictions = {.topology = true},
    .parameters = {segment_bytes_parameter(0)},
    .aliases = {"type_3"},
    .prepare = Levels::prepare,
    .claims = {.rounds = Levels::busy_rounds,
               .most_sent = Levels::most_sent,
               .most_neighbours = Levels::most_neighbours},
}};

}  // namespace
}  // namespace timpani::bcast_two_level_linear
