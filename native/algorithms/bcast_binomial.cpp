// Broadcast along a binomial tree: in round k each rank that has the data sends it to the rank 2ᵏ further from the
// root.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::bcast_binomial {
namespace {

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int me = relative_rank(args, rank);
    const int distance = 1 << k;
    const Region whole{data_of(args, rank), 0, args.count};
    if (me < distance && me + distance < args.ranks) steps.send(absolute_rank(args, me + distance), whole);
    if (me >= distance && me < 2 * distance) steps.receive(absolute_rank(args, me - distance), whole);
}

const Register entry{{
    .collective = "bcast",
    .name = "binomial",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .cost = "⌈log₂ p⌉ (α + βm)",
    .rounds = log_ranks,
    .round = round,
    .claims = {.rounds = log_ranks, .max_sent = message_each_round, .max_neighbors = log_ranks},
}};

}  // namespace
}  // namespace timpani::bcast_binomial
