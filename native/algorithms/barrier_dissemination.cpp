// Barrier by dissemination: in round k each rank notifies the rank 2ᵏ further around the ring and waits for the rank 2ᵏ
// before it.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::barrier_dissemination {
namespace {

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const int distance = 1 << k;
    steps.notify((rank + distance) % p);
    steps.await((rank - distance + p) % p);
}

const Register entry{{
    .collective = "barrier",
    .name = "dissemination",
    .source = "Hensgen, Finkel, Manber, IJPP 1988",
    .cost = "⌈log₂ p⌉ α",
    .rounds = log_ranks,
    .round = round,
    .symmetry = by_rotation,
    .claims = {.rounds = log_ranks, .max_sent = always<0>, .max_neighbors = ranks_at_one_digit<always<2>>},
}};

}  // namespace
}  // namespace timpani::barrier_dissemination
