// All-to-all as one linear scatter after another. In round i rank i sends every other rank its block, and each of them
// receives it before the next round.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::alltoall_scatters {
namespace {

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int root = static_cast<int>(k);
    for (int to = 0; rank == root && to < args.ranks; ++to) {
        const auto [at_sender, at_receiver, count] = pair_block_of(args, root, to);
        const Region from{Buffer::send, at_sender, count};
        if (to == root) {
            steps.copy(from, {Buffer::receive, at_receiver, count});
        } else {
            steps.send(to, from);
        }
    }
    if (rank == root) return;
    const auto block = pair_block_of(args, root, rank);
    steps.receive(root, {Buffer::receive, block.at_receiver, block.count});
}

const RegisterWithV entry{{
    .collective = "alltoall",
    .name = "scatters",
    .source = "as students wrote it: type IV of study hierarchical-collectives",
    .cost = "p (p−1) (α + βm/p), m from each rank",
    .aliases = {"type_4"},
    .rounds = all_ranks,
    .round = round,
    .requests = [](const CollectiveArguments& args) -> std::int64_t { return std::max(1, args.ranks - 1); },
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   return args.ranks == 1 ? 0 : args.ranks;
               },
               .max_sent = message_to_each,
               .max_neighbors = other_ranks},
}};

}  // namespace
}  // namespace timpani::alltoall_scatters
