// Scatter over three levels: to the leaders of groups, to the leaders of each group's nodes, inside each node, each
// along a binomial tree.

#include "schedule/algorithm.hpp"
#include "schedule/blocks_over_topology.hpp"

namespace timpani {
namespace {

BlocksOverTopology blocks(const Shape& shape) { return {shape, kThreeLevels}; }

Algorithm three_level(std::string_view collective) {
    return {
        .collective = collective,
        .name = "three_level",
        .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
        .cost = "(⌈log₂ g⌉ + ⌈log₂ n/g⌉ + ⌈log₂ p/n⌉) α + 3 (p−1)/p βm, m in all, g groups, n nodes",
        .restrictions = {.topology = true},
        .parameters = {},
        .aliases = {"type_1"},
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

const Register scatter{three_level("scatter")};
const Register scatterv{three_level("scatterv")};

}  // namespace
}  // namespace timpani
