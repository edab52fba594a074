// Scatter over two levels, each along a binomial tree: from the root to the leaders of all nodes, then from each
// leader to the ranks of its node.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_gather_scatter.hpp"

namespace timpani::scatter_two_level {
namespace {

using Levels = HierarchicalScatter<kTwoLevels>;

Algorithm two_level(std::string_view collective) {
    return {
        .collective = collective,
        .name = "two_level",
        .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
        .cost = "(⌈log₂ n⌉ + ⌈log₂ p/n⌉) α + 2 (p−1)/p βm, m in all, n nodes",
        .restrictions = {.topology = true},
        .parameters = {},
        .aliases = {"type_2"},
        .prepare = Levels::prepare,
        .scratch = Levels::scratch,
        .claims = Levels::claims,
    };
}

const Register scatter{two_level("scatter")};
const Register scatterv{two_level("scatterv")};

}  // namespace
}  // namespace timpani::scatter_two_level
