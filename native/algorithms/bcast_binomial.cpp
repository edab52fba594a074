// Broadcast along a binomial tree: in round k each rank that has the data sends it to the rank 2ᵏ further from the
// root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani::bcast_binomial {
namespace {

std::int64_t rounds(const Shape& shape) { return ceil_log2(shape.ranks); }

void round(const Shape& shape, int rank, std::int64_t k, Steps& steps) {
    const int me = relative_rank(shape, rank);
    const int distance = 1 << k;
    const Region whole{data_of(shape, rank), 0, shape.count};
    if (me < distance && me + distance < shape.ranks) steps.send(absolute_rank(shape, me + distance), whole);
    if (me >= distance && me < 2 * distance) steps.receive(absolute_rank(shape, me - distance), whole);
}

const Register entry{{
    .collective = "bcast",
    .name = "binomial",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "⌈log₂ p⌉ (α + βm)",
    .restrictions = {},
    .parameters = {},
    .aliases = {},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = rounds,
               .most_sent = [](const Shape& shape) { return ceil_log2(shape.ranks) * shape.count; },
               .most_neighbours = [](const Shape& shape) -> std::int64_t { return ceil_log2(shape.ranks); }},
}};

}  // namespace
}  // namespace timpani::bcast_binomial
