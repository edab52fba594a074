// Broadcast by the root alone: it sends the whole message to one rank after the other.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::bcast_linear {
namespace {

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int receiver = absolute_rank(args, static_cast<int>(k) + 1);
    const Region whole{data_of(args, rank), 0, args.count};
    if (rank == args.root) steps.send(receiver, whole);
    if (rank == receiver) steps.receive(args.root, whole);
}

std::int64_t next_active(const CollectiveArguments& args, int rank, std::int64_t k) {
    const std::int64_t receives = relative_rank(args, rank) - 1;
    return rank == args.root ? k : k <= receives ? receives : other_ranks(args);
}

const Register entry{{
    .collective = "bcast",
    .name = "linear",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "(p−1) (α + βm)",
    .aliases = {"basic_linear"},
    .rounds = other_ranks,
    .round = round,
    .next_active = next_active,
    .claims = {.rounds = other_ranks, .max_sent = message_to_each, .max_neighbors = other_ranks},
}};

}  // namespace
}  // namespace timpani::bcast_linear
