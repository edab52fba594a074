// Broadcast of the message's two halves down the two sides of a binary tree, in segments: the ranks of one side receive
// the first half, those of the other the second. Then each rank exchanges its half with a partner on the other side.
// The root sends the missing half to ranks without a partner.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/tree.hpp"

namespace timpani::bcast_split_binary {
namespace {

/// Half of the message, cut into segments. Odd ranks, counted from the root, receive the first half, which is the
/// longer.
struct Half {
    Part part;
    Segments segments;

    Half(const CollectiveArguments& args, int side)
        : part(part_of(args.count, 2, side)), segments(Segments::of(args, part.count, args.parameters[0])) {}
    [[nodiscard]] Region whole(Buffer buffer) const { return region(buffer, part); }
    [[nodiscard]] Region segment(Buffer buffer, std::int64_t index) const {
        return segments.region(whole(buffer), index);
    }
};

constexpr int side_of(int rank) { return rank % 2 == 1 ? 0 : 1; }

std::int64_t rounds_in_tree(const CollectiveArguments& args) {
    return BinaryTree{args.ranks}.height() + Half(args, 0).segments.number() - 1;
}
std::int64_t rounds(const CollectiveArguments& args) { return args.ranks == 1 ? 0 : rounds_in_tree(args) + 1; }

void exchange(const CollectiveArguments& args, int rank, Steps& steps) {
    const int me = relative_rank(args, rank);
    const Buffer data = data_of(args, rank);
    const bool one_unpaired = args.ranks % 2 == 0;
    if (me == 0) {
        if (one_unpaired) steps.send(absolute_rank(args, args.ranks - 1), Half(args, 1).whole(data));
        return;
    }
    const int other = side_of(me) == 0 ? me + 1 : me - 1;
    const int peer = absolute_rank(args, other < args.ranks ? other : 0);
    steps.receive(peer, Half(args, 1 - side_of(me)).whole(data));
    if (other < args.ranks) steps.send(peer, Half(args, side_of(me)).whole(data));
}

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    if (k == rounds_in_tree(args)) {
        exchange(args, rank, steps);
        return;
    }
    const BinaryTree tree{args.ranks};
    const int me = relative_rank(args, rank);
    const Buffer data = data_of(args, rank);
    const std::int64_t index = k - tree.depth(me);
    if (const Half mine(args, side_of(me)); me > 0 && mine.segments.has(index + 1)) {
        steps.receive(absolute_rank(args, tree.parent(me)), mine.segment(data, index + 1));
    }
    for (int i = 0, child = 0; (child = tree.child(me, i)) >= 0; ++i) {
        if (const Half theirs(args, side_of(child)); theirs.segments.has(index)) {
            steps.send(absolute_rank(args, child), theirs.segment(data, index));
        }
    }
}

const Register entry{{
    .collective = "bcast",
    .name = "split_binary",
    .source = "Pješivac-Grbović et al., Cluster Computing 2007",
    .cost = "2 (⌈log₂(p+1)⌉ + q − 2) (α + βm/2q) + α + βm/2, q segments of a half",
    .parameters = {{"segment_bytes", 8192, 0, "bytes of a segment; 0 sends the halves whole"}},
    .aliases = {"split_binary_tree"},
    .rounds = rounds,
    .round = round,
    .claims = {.rounds = [](const CollectiveArguments& args) -> std::int64_t {
                   if (args.ranks == 1) return 0;
                   const bool second_half = args.count > 1;
                   const bool exchanged = args.ranks > 2 || second_half;
                   return floor_log2(args.ranks) + Half(args, 0).segments.number() - (exchanged ? 0 : 1);
               },
               .max_sent = [](const CollectiveArguments& args) -> std::int64_t {
                   // From 6 ranks on, the root's first child, which has two children and a partner.
                   const std::int64_t second = args.count / 2;
                   const std::int64_t first = args.count - second;
                   if (args.ranks == 4) return std::max(first + 2 * second, 2 * first);
                   if (args.ranks <= 3) return args.ranks == 1 ? 0 : args.count;
                   return (args.ranks == 5 ? 2 : 3) * first;
               },
               .max_neighbors = [](const CollectiveArguments& args) -> std::int64_t {
                   return args.ranks < 6 ? std::min(3, args.ranks - 1) : 4;
               }},
}};

}  // namespace
}  // namespace timpani::bcast_split_binary
