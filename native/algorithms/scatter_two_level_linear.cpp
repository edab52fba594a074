// Scatter over two levels: the root starts to send every node's blocks to its leader at once; they go to its ranks
// along a binomial tree.

#include "schedule/algorithm.hpp"
#include "schedule/blocks_over_topology.hpp"

namespace timpani {
namespace {

BlocksOverTopology blocks(const Shape& shape) { return {shape, kRootServesNodes}; }

Algorithm two_level_linear(std::string_view collective) {
    return {
        .collective = collective,
        .name = "two_level_linear",
        .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
        .cost = "(n − 1 + ⌈log₂ p/n⌉) α + 2 (p−1)/p βm, m in all, n nodes",
        .restrictions = {.topology = true},
        .parameters = {},
        .aliases = {"type_3"},
        .rounds = [](const Shape& shape) { return blocks(shape).rounds(); },
        .round = [](const Shape& shape, int rank, std::int64_t k,
                    Steps& steps) { blocks(shape).scatter(rank, k, steps); },
        .scratch = [](const Shape& shape, int rank) { return blocks(shape).scratch(rank); },
        .claims = {.rounds = [](const Shape& shape) { return blocks(shape).busy_rounds(); },
                   .most_sent = [](const Shape& shape) { return blocks(shape).most_down(); },
                   .most_neighbours = [](const Shape& shape) { return blocks(shape).most_neighbours(); },
                   .most_leaving_node = [](const Shape& shape) { return blocks(shape).most_leaving_node(false); }},
    };
}

const Register scatter{two_level_linear("scatter")};
const Register scatterv{two_level_linear("scatterv")};

}  // namespace
}  // namespace timpani
