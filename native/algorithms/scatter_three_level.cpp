// Scatter over three levels, each along a binomial tree: from the root to the leaders of all groups, from each
// group's leader to the leaders of its nodes, from each node's leader to its ranks.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_gather_scatter.hpp"

namespace timpani::scatter_three_level {
namespace {

using Levels = HierarchicalScatter<kThreeLevels>;

Algorithm three_level(std::string_view collective) {
    return {
        .collective = collective,
        .name = "three_level",
        .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
        .cost = "(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) α + 3 (p−1)/p βm, m in all, g groups, n nodes",
        .restrictions = {.topology = true},
        .parameters = {},
        .aliases = {"type_1"},
        .prepare = Levels::prepare,
        .scratch = Levels::scratch,
        .claims = Levels::claims,
    };
}

const Register scatter{three_level("scatter")};
const Register scatterv{three_level("scatterv")};

}  // namespace
}  // namespace timpani::scatter_three_level
