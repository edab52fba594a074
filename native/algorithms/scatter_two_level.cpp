// Scatter over two levels: the blocks of each node to its leader along a binomial tree, then to its ranks along
// another.

#include "schedule/algorithm.hpp"
#include "schedule/blocks_over_topology.hpp"

namespace timpani {
namespace {

BlocksOverTopology blocks(const Shape& shape) { return {shape, kTwoLevels}; }

Algorithm two_level(std::string_view collective) {
    return {
        .collective = collective,
        .name = "two_level",
        .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
        .cost = "(⌈log₂ n⌉ + ⌈log₂ p/n⌉) α + 2 (p−1)/p βm, m in all, n nodes",
        .restrictions = {.topology = true},
        .parameters = {},
        .aliases = {"type_2"},
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

const Register scatter{two_level("scatter")};
const Register scatterv{two_level("scatterv")};

}  // namespace
}  // namespace timpani
