// Barrier through rank 0: all others notify it that they have arrived, then it notifies all of them.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::barrier_linear {
namespace {

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const bool arriving = k == 0;
    if (rank > 0) {
        if (arriving) steps.notify(0);
        if (!arriving) steps.await(0);
        return;
    }
    for (int other = 1; other < args.ranks; ++other) {
        if (arriving) steps.await(other);
        if (!arriving) steps.notify(other);
    }
}

const Register entry{{
    .collective = "barrier",
    .name = "linear",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "2 (p−1) α",
    .rounds = always<2>,
    .round = round,
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t { return args.ranks == 1 ? 0 : 2; },
               .max_sent = always<0>,
               .max_neighbors = other_ranks},
}};

}  // namespace
}  // namespace timpani::barrier_linear
