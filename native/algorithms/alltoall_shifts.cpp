// All-to-all in cyclic shifts: in round k each rank sends to the rank k further around the ring and receives from the
// rank k before it; in round 0 it copies its own block. Ranks start with different targets. No two messages share
// memory, so rounds overlap, limited only by the algorithm's bound on messages under way.
//
// linear            starts all receives and sends and waits for all of them at the end
// linear_throttled  starts the next receive and send only when the oldest has ended, which keeps the library's matching
//                   queues and the network's buffers short
// pairwise          has one message under way in each direction

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::alltoall_shifts {
namespace {

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int p = args.ranks;
    const int to = static_cast<int>((rank + k) % p);
    const int from = static_cast<int>((rank - k + p) % p);
    const auto outgoing = pair_block_of(args, rank, to);
    const auto incoming = pair_block_of(args, from, rank);
    const Region source{Buffer::send, outgoing.at_sender, outgoing.count};
    const Region target{Buffer::receive, incoming.at_receiver, incoming.count};
    if (k == 0) {
        steps.copy(source, target);
        return;
    }
    steps.receive(from, target);
    steps.send(to, source);
}

Algorithm linear() {
    return {
        .collective = "alltoall",
        .name = "linear",
        .source = "Pješivac-Grbović, thesis, University of Tennessee 2007",
        .cost = "(p−1) α + βm",
        .rounds = all_ranks,
        .round = round,
        .symmetry = by_rotation,
        .claims = {.rounds = other_ranks, .max_sent = message_to_each, .max_neighbors = other_ranks},
    };
}

Algorithm linear_throttled() {
    Algorithm algorithm = linear();
    algorithm.name = "linear_throttled";
    algorithm.source = "Open MPI, coll/base, all-to-all linear_sync";
    algorithm.parameters = {{"requests", 4, 1, "messages under way each way"}};
    algorithm.aliases = {"linear_sync"};
    algorithm.requests = [](const CollectiveArguments& args) { return 2 * args.parameters[0]; };
    return algorithm;
}

Algorithm pairwise() {
    Algorithm algorithm = linear();
    algorithm.name = "pairwise";
    algorithm.source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005";
    algorithm.requests = always<2>;
    return algorithm;
}

const RegisterWithV all_at_once{linear()};
const RegisterWithV throttled{linear_throttled()};
const RegisterWithV one_at_a_time{pairwise()};

}  // namespace
}  // namespace timpani::alltoall_shifts
