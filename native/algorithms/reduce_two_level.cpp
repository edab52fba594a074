// Reduce over two levels, each along a binomial tree: the ranks of each node to its leader, then the leaders to the
// root. Ranks of a node need not be consecutive, so that the operator must commute.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_bcast_reduce.hpp"

namespace timpani::reduce_two_level {
namespace {

using Levels = HierarchicalReduction<kTwoLevels>;

const Register entry{{
    .collective = "reduce",
    .name = "two_level",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(⌈log₂ n⌉ + ⌈log₂ p/n⌉) (α + (β + γ) m), n nodes",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {segment_bytes_parameter(0)},
    .aliases = {"type_2"},
    .prepare = Levels::prepare,
    .scratch = Levels::scratch,
    .claims = {.rounds = Levels::busy_rounds,
               .most_sent = Levels::most_sent,
               .most_neighbours = Levels::most_neighbours},
}};

}  // namespace
}  // namespace timpani::reduce_two_level
