// Allreduce in lanes (schedule/patterns/lanes.hpp), for nodes with several ranks:
// 1. A direct reduce-scatter inside each node leaves each lane's part of the vector with the lane's rank.
// 2. The ranks of each lane run a ring allreduce of their part over all nodes.
// 3. A direct allgather inside each node gives every rank the whole result.
// All of it is pipelined in segments: a segment leaves for the next node as soon as it is reduced, while later ones are
// still being received. The operator must commute.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/direct_exchange.hpp"
#include "schedule/patterns/lanes.hpp"

namespace timpani::allreduce_full_lane {
namespace {

/// A lane's part of the vector is cut into a piece for each node, and pieces into segments. Pieces travel around the
/// nodes as in allreduce_rings.cpp. In step s of the reduce-scatter the node at position a sends piece a − s, reduced
/// over the nodes that it has visited. In step s of the allgather it sends piece a + 1 − s, which is complete.
class Allreduce {
  public:
    explicit Allreduce(const CollectiveArguments& args)
        : args_(args),
          lanes_(args, args.parameters[1]),
          nodes_(lanes_.hierarchy.nodes()),
          segments_(Segments::of(args, part_of(longest_part(), nodes_, 0).count, args.parameters[0])) {}

    /// One round inside nodes, n − 1 of the ring's reduce-scatter, and n of its allgather, the last of which stays
    /// inside nodes.
    [[nodiscard]] std::int64_t rounds() const { return 2 * std::int64_t{nodes_}; }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        const auto step = static_cast<int>(k);
        if (step == 0) exchange_on_node(mine, steps);
        const bool in_lane = mine.local < lanes_.number;
        for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
            if (step > 0 && step < nodes_ && in_lane) ring_reduce_scatter(mine, step - 1, segment, steps);
            if (step >= nodes_) {
                if (in_lane) ring_allgather(mine, step - nodes_, segment, steps);
                for (int i = 1; i < mine.size; ++i) {
                    const int lane = (mine.local - i + mine.size) % mine.size;
                    if (lane >= lanes_.number) continue;
                    const auto result = piece(Buffer::receive, lane, mine.position + 1 - (step - nodes_), segment);
                    steps.receive(lanes_.hierarchy.rank_at(mine.node, lane), result);
                }
            }
        }
    }

    /// A part for each rank of the node: what the others send and, in the rank's own place, what the ring brings.
    [[nodiscard]] std::int64_t scratch(int rank) const {
        const LanePlace mine(lanes_, rank);
        return mine.local < lanes_.number ? mine.size * longest_part() : 0;
    }

    /// A lane's part leaves a node in the reduce-scatter and in the allgather, except one piece each time.
    [[nodiscard]] std::int64_t max_leaving_node() const {
        if (nodes_ == 1) return 0;
        std::int64_t maximum = 0;
        for (int position = 0; position < nodes_; ++position) {
            std::int64_t leaving = 0;
            for (int lane = 0; lane < lanes_.number; ++lane) {
                leaving += 2 * part(Buffer::receive, lane).count - whole_piece(lane, position + 1).count -
                           whole_piece(lane, position + 2).count;
            }
            maximum = std::max(maximum, leaving);
        }
        return maximum;
    }

  private:
    [[nodiscard]] std::int64_t longest_part() const { return part_of(args_.count, lanes_.number, 0).count; }
    [[nodiscard]] Region part(Buffer buffer, int lane) const { return lanes_.part({buffer, 0, args_.count}, lane); }
    /// A piece of a lane's part, counted from the start of the part; numbers wrap around.
    [[nodiscard]] Part whole_piece(int lane, int number) const {
        return part_of(part(Buffer::receive, lane).count, nodes_, (number % nodes_ + nodes_) % nodes_);
    }
    [[nodiscard]] Region piece(Buffer buffer, int lane, int number, std::int64_t segment) const {
        return segments_.region(region(part(buffer, lane), whole_piece(lane, number)), segment);
    }
    /// Where a lane's rank receives a piece of its part from the rank at `local` of its node; from the ring if that is
    /// the rank itself.
    [[nodiscard]] Region contribution(const LanePlace& mine, int local, int number, std::int64_t segment) const {
        const Region contributed{Buffer::scratch, local * longest_part(), longest_part()};
        return segments_.region(region(contributed, whole_piece(mine.local, number)), segment);
    }

    /// The direct reduce-scatter, pieces in the order in which they leave the node.
    void exchange_on_node(const LanePlace& mine, Steps& steps) const {
        const auto on_node = [&](int local) { return lanes_.hierarchy.rank_at(mine.node, local); };
        for (int turn = 0; turn < nodes_; ++turn) {
            const int number = mine.position - turn;
            for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
                const auto part = [&](int lane) { return piece(Buffer::send, lane, number, segment); };
                const auto received = [&](int local) { return contribution(mine, local, number, segment); };
                direct_reduce_scatter(mine.local, mine.size, lanes_.number, on_node, part, received, steps);
            }
        }
    }

    /// Reduces a segment of a piece over the ranks of the node and, if it has visited other nodes, with what the ring
    /// brought.
    [[nodiscard]] Region reduce_contributions(const LanePlace& mine, int number, std::int64_t segment, bool from_ring,
                                              Steps& steps) const {
        const Region sum = piece(Buffer::receive, mine.local, number, segment);
        steps.copy(piece(Buffer::send, mine.local, number, segment), sum);
        for (int local = 0; local < mine.size; ++local) {
            if (local != mine.local || from_ring) steps.reduce(contribution(mine, local, number, segment), sum);
        }
        return sum;
    }

    void ring_reduce_scatter(const LanePlace& mine, int step, std::int64_t segment, Steps& steps) const {
        const Region sum = reduce_contributions(mine, mine.position - step, segment, step > 0, steps);
        steps.receive(lanes_.rank_at(mine.position - 1, mine.local),
                      contribution(mine, mine.local, mine.position - step - 1, segment));
        steps.send(lanes_.rank_at(mine.position + 1, mine.local), sum);
    }

    void ring_allgather(const LanePlace& mine, int step, std::int64_t segment, Steps& steps) const {
        const int number = mine.position + 1 - step;
        const Region result = step == 0 ? reduce_contributions(mine, number, segment, nodes_ > 1, steps)
                                        : piece(Buffer::receive, mine.local, number, segment);
        if (step < nodes_ - 1) {
            steps.receive(lanes_.rank_at(mine.position - 1, mine.local),
                          piece(Buffer::receive, mine.local, number - 1, segment));
            steps.send(lanes_.rank_at(mine.position + 1, mine.local), result);
        }
        for (int i = 1; i < mine.size; ++i) {
            steps.send(lanes_.hierarchy.rank_at(mine.node, (mine.local + i) % mine.size), result);
        }
    }

    const CollectiveArguments& args_;
    Lanes lanes_;
    int nodes_;
    Segments segments_;
};

const Register entry{{
    .collective = "allreduce",
    .name = "full_lane",
    .source = kFullLaneSource,
    .cost = "2(n − 1) α + 2 (n−1)/n βm, n nodes, m leaving a node",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {kLaneSegments, kLanes},
    .prepare = prepared<Allreduce>,
    .scratch = [](const CollectiveArguments& args, int rank) { return Allreduce(args).scratch(rank); },
    .claims = {.max_leaving_node = [](const CollectiveArguments& args) { return Allreduce(args).max_leaving_node(); }},
}};

}  // namespace
}  // namespace timpani::allreduce_full_lane
