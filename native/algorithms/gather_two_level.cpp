// Gather over two levels, each along a binomial tree: from the ranks of each node to its leader, then from the
// leaders of all nodes to the root.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_gather_scatter.hpp"

namespace timpani::gather_two_level {
namespace {

using Levels = HierarchicalGather<kTwoLevels>;

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

const Register gather{two_level("gather")};
const Register gatherv{two_level("gatherv")};

}  // namespace
}  // namespace timpani::gather_two_level
