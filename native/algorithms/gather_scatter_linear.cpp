// Gather and scatter by the root alone: in round k it exchanges a message with the k-th rank counted from itself; in
// round 0 it copies its own block.
//
// linear              one message after the other
// linear_nonblocking  starts all messages at once and waits for them together

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/blocks.hpp"
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

struct Gather {
    static constexpr Buffer at_root = Buffer::receive;
    static constexpr Buffer at_rank = Buffer::send;
    static constexpr bool root_sends = false;
    static std::int64_t max_sent(const CollectiveArguments& args) { return NonRootBlocks(args).largest; }
};

struct Scatter {
    static constexpr Buffer at_root = Buffer::send;
    static constexpr Buffer at_rank = Buffer::receive;
    static constexpr bool root_sends = true;
    static std::int64_t max_sent(const CollectiveArguments& args) { return NonRootBlocks(args).elements; }
};

template <class Direction>
void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const int other = absolute_rank(args, static_cast<int>(k));
    if (rank != args.root && rank != other) return;
    const Region at_root = region(Direction::at_root, block_of(args, other));
    const Region at_rank{Direction::at_rank, 0, at_root.count};
    const bool sends = (rank == args.root) == Direction::root_sends;
    const int peer = rank == args.root ? other : args.root;
    const Region& own = rank == args.root ? at_root : at_rank;
    if (k == 0) {
        steps.copy(Direction::root_sends ? at_root : at_rank, Direction::root_sends ? at_rank : at_root);
    } else if (sends) {
        steps.send(peer, own);
    } else {
        steps.receive(peer, own);
    }
}

template <class Direction>
Algorithm nonblocking(std::string_view collective, const std::vector<std::string_view>& aliases) {
    return {
        .collective = collective,
        .name = "linear_nonblocking",
        .source = "Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007",
        .cost = "(p−1) α + (p−1)/p βm, m in all",
        .aliases = aliases,
        .rounds = all_ranks,
        .round = round<Direction>,
        // A rank other than the root has one message.
        .next_active = [](const CollectiveArguments& args, int rank, std::int64_t k) -> std::int64_t {
            const std::int64_t own = relative_rank(args, rank);
            return rank == args.root ? k : k <= own ? own : args.ranks;
        },
        .claims = {.rounds = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; },
                   .max_sent = Direction::max_sent,
                   .max_neighbors = [](const CollectiveArguments& args) { return NonRootBlocks(args).ranks; }},
    };
}

template <class Direction>
Algorithm blocking(std::string_view collective) {
    Algorithm algorithm = nonblocking<Direction>(collective, {"basic_linear"});
    algorithm.name = "linear";
    algorithm.requests = always<1>;
    return algorithm;
}

const RegisterWithV gather{blocking<Gather>("gather")};
const RegisterWithV scatter{blocking<Scatter>("scatter")};
const Register nonblocking_gather{nonblocking<Gather>("gather", {})};
const Register nonblocking_scatter{nonblocking<Scatter>("scatter", {"linear_nb"})};

}  // namespace
}  // namespace timpani::gather_scatter_linear
