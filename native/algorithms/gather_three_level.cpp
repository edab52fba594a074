// Gather over three levels, each along a binomial tree: from the ranks of each node to its leader, from the leaders
// of each group's nodes to the group's leader, from the leaders of all groups to the root.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_gather_scatter.hpp"

namespace timpani::gather_three_level {
namespace {

using Levels = HierarchicalGather<kThreeLevels>;

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

const Register gather{three_level("gather")};
const Register gatherv{three_level("gatherv")};

}  // namespace
}  // namespace timpani::gather_three_level
