// Scan and exscan from rank to rank: each rank receives the reduction over all ranks before it, adds its own elements
// and sends the result to the next rank. This keeps rank order, so any operator is allowed.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::scan_linear {
namespace {

/// In round k rank k − 1 sends to rank k. What a rank receives is its result of exscan. Reduced with its own elements
/// it is the result of scan.
template <bool exclusive>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Region own{Buffer::send, 0, args.count};
    const Region before{exclusive ? Buffer::receive : Buffer::scratch, 0, args.count};
    const Region inclusive{exclusive ? Buffer::scratch : Buffer::receive, 0, args.count};
    const bool needed = !exclusive || rank < args.ranks - 1;
    if (k == 0 && needed) steps.copy(own, inclusive);
    if (rank == k - 1) steps.send(rank + 1, inclusive);
    if (rank > 0 && rank == k) {
        steps.receive(rank - 1, before);
        if (needed) steps.reduce(before, inclusive);
    }
}

/// Active rounds: the first one, the one in which it receives, and the next.
std::int64_t next_active(const CollectiveArguments& args, int rank, std::int64_t k) {
    if (k == 0) return 0;
    return k <= rank + 1 ? std::max<std::int64_t>(k, rank) : args.ranks;
}

Algorithm linear(std::string_view collective, decltype(Algorithm::round) round) {
    return {
        .collective = collective,
        .name = "linear",
        .source = "Sanders, Träff, EuroPVM/MPI 2006",
        .cost = "(p−1) (α + βm + γm)",
        .rounds = all_ranks,
        .round = round,
        .next_active = next_active,
        .scratch = [](const CollectiveArguments& args, int) { return args.count; },
        .claims = {.rounds = other_ranks, .max_sent = message_once, .max_neighbors = ring_neighbors},
    };
}

const Register scan{linear("scan", round<false>)};
const Register exscan{linear("exscan", round<true>)};

}  // namespace
}  // namespace timpani::scan_linear
