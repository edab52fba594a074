// Gather and scatter by the root alone: in round k it exchanges a message with the k-th rank counted from itself; in
// round 0 it copies its own block.
//
// linear              one message after the other
// linear_nonblocking  starts all messages at once and waits for them together

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"

namespace timpani::gather_scatter_linear {
namespace {

/// Of the ranks other than the root: how many have elements, their elements, and the largest block.
struct NonRootBlocks {
    std::int64_t ranks = 0;
    std::int64_t elements = 0;
    std::int64_t largest = 0;

    explicit NonRootBlocks(const CollectiveArguments& args) {
        for (int rank = 0; rank < args.ranks; ++rank) {
            const auto count = rank == args.root ? 0 : block_of(args, rank).count;
            ranks += count > 0 ? 1 : 0;
            elements += count;
            largest = std::max(largest, count);
        }
    }
};

template <bool gathers>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int other = absolute_rank(args, static_cast<int>(k));
    if (rank != args.root && rank != other) return;
    const Region at_root = region(gathers ? Buffer::receive : Buffer::send, block_of(args, other));
    const Region at_rank{gathers ? Buffer::send : Buffer::receive, 0, at_root.count};
    const bool sends = (rank == args.root) != gathers;
    const int peer = rank == args.root ? other : args.root;
    const Region& own = rank == args.root ? at_root : at_rank;
    if (k == 0) {
        gathers ? steps.copy(at_rank, at_root) : steps.copy(at_root, at_rank);
    } else if (sends) {
        steps.send(peer, own);
    } else {
        steps.receive(peer, own);
    }
}

template <bool gathers>
Algorithm nonblocking(const std::vector<std::string_view>& aliases) {
    return {
        .collective = gathers ? "gather" : "scatter",
        .name = "linear_nonblocking",
        .source = "Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007",
        .cost = "(p−1) α + (p−1)/p βm, m in all",
        .aliases = aliases,
        .rounds = all_ranks,
        .round = round<gathers>,
        // A rank other than the root has one message.
        .next_active = [](const CollectiveArguments& args, int rank, std::int64_t k) -> std::int64_t {
            const std::int64_t own = relative_rank(args, rank);
            return rank == args.root ? k : k <= own ? own : args.ranks;
        },
        .claims = {.rounds = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; },
                   .max_sent =
                       [](const CollectiveArguments& args) {
                           const NonRootBlocks blocks(args);
                           return gathers ? blocks.largest : blocks.elements;
                       },
                   .max_neighbors = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; }},
    };
}

template <bool gathers>
Algorithm blocking() {
    Algorithm algorithm = nonblocking<gathers>({"basic_linear"});
    algorithm.name = "linear";
    algorithm.requests = always<1>;
    return algorithm;
}

const RegisterWithV gather{blocking<true>()};
const RegisterWithV scatter{blocking<false>()};
const Register nonblocking_gather{nonblocking<true>({})};
const Register nonblocking_scatter{nonblocking<false>({"linear_nb"})};

}  // namespace
}  // namespace timpani::gather_scatter_linear
