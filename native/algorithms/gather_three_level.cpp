// Gather over three levels: inside each node, among the leaders of each group's nodes, among the leaders of groups,
// each along a binomial tree.

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
                    Steps& steps) { blocks(shape).gather(rank, k, steps); },
        .scratch = [](const Shape& shape, int rank) { return blocks(shape).scratch(rank); },
        .claims = {.rounds = [](const Shape& shape) { return blocks(shape).busy_rounds(); },
                   .most_sent = [](const Shape& shape) { return blocks(shape).most_up(); },
                   .most_neighbours = [](const Shape& shape) { return blocks(shape).most_neighbours(); },
                   .most_leaving_node = [](const Shape& shape) { return blocks(shape).most_leaving_node(true); }},
    };
}

const Register gather{three_level("gather")};
const Register gatherv{three_level("gatherv")};

}  // namespace
}  // namespace timpani
