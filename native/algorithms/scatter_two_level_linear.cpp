// Scatter over two levels: from the root straight to the leaders of all nodes, all sends started at once, then from
// each leader along a binomial tree to the ranks of its node.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_gather_scatter.hpp"

namespace timpani::scatter_two_level_linear {
namespace {

using Levels = HierarchicalScatter<kRootToAllNodes>;

Algorithm two_level_linear(std::string_view collective) {
    return {
        .collective = collective,
        .name = "two_level_linear",
        .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
        .cost = "(n − 1 + ⌈log₂ p/n⌉) α + 2 (p−1)/p βm, m in all, n nodes",
        .restrictions = {.topology = true},
        .parameters = {},
        .aliases = {"type_3"},
        .prepare = Levels::prepare,
        .scratch = Levels::scratch,
        .claims = Levels::claims,
    };
}

const Register scatter{two_level_linear("scatter")};
const Register scatterv{two_level_linear("scatterv")};

}  // namespace
}  // namespace timpani::scatter_two_level_linear
