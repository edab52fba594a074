// Reduce over three levels, each along a binomial tree: the ranks of each node to its leader, the leaders of each
// group's nodes to the group's leader, the leaders of all groups to the root. The operator must commute.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"

namespace timpani::reduce_three_level {
namespace {

using Levels = HierarchicalReduction<kThreeLevels>;

const Register entry{{
    .collective = "reduce",
    .name = "three_level",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) (α + (β + γ) m), g groups, n nodes",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {segment_bytes_parameter(0)},
    .aliases = {"type_1"},
    .prepare = Levels::prepare,
    .scratch = Levels::scratch,
    .claims = {.rounds = Levels::busy_rounds,
               .most_sent = Levels::most_sent,
               .most_neighbours = Levels::most_neighbours},
}};

}  // namespace
}  // namespace timpani::reduce_three_level
