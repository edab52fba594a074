// Gather over two levels: from the ranks of each node to its leader along a binomial tree, then from all leaders
// straight to the root, which starts to receive from all of them at once.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/hierarchical_gather_scatter.hpp"

namespace timpani::gather_two_level_linear {
namespace {

using Levels = HierarchicalGather<kRootToAllNodes>;

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

const Register gather{two_level_linear("gather")};
const Register gatherv{two_level_linear("gatherv")};

}  // namespace
}  // namespace timpani::gather_two_level_linear
