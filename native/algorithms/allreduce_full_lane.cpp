// Allreduce over lanes: the ranks of a node put their vectors together, each lane's part at the lane's rank; each lane
// reduces its part round a ring of all nodes; and what it comes to goes to the other ranks of each node. All of it
// flows in segments: one leaves for the next node as soon as it is put together, while those behind it still come in.
// The operator must commute.

#include "schedule/algorithm.hpp"
#include "schedule/direct_exchange.hpp"
#include "schedule/lanes.hpp"

namespace timpani::allreduce_full_lane {
namespace {

/// A lane's part is cut into a piece for each node, and pieces into segments. Pieces go round as in allreduce/ring: in
/// the first n − 1 steps a node at position a sends on the piece a − step as far as it is reduced, in the others the
/// piece a + 1 − step, which is done.
class Allreduce {
  public:
    explicit Allreduce(const Shape& shape)
        : shape_(shape), lanes_(shape, shape.parameters[1]), nodes_(lanes_.hierarchy.nodes()) {
        Shape piece = shape;
        piece.count = part_of(part_of(shape.count, lanes_.number, 0).count, nodes_, 0).count;  // the longest
        segments_ = Segments::of(piece, shape.parameters[0]);
    }

    /// One inside nodes, n in which sums leave, n in which results do; the last of them only inside nodes.
    [[nodiscard]] std::int64_t rounds() const { return 2 * std::int64_t{nodes_}; }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        const auto step = static_cast<int>(k);
        if (step == 0) bring_together(mine, steps);
        const bool drives = mine.local < lanes_.number;
        for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
            if (step > 0 && step < nodes_ && drives) pass_sum_on(mine, step - 1, segment, steps);
            if (step >= nodes_) {
                if (drives) pass_result_on(mine, step - nodes_, segment, steps);
                for (int i = 1; i < mine.size; ++i) {
                    const int lane = (mine.local - i + mine.size) % mine.size;
                    if (lane >= lanes_.number) continue;
                    const auto done = piece(Buffer::receive, lane, mine.position + 1 - (step - nodes_), segment);
                    steps.receive(lanes_.hierarchy.rank_at(mine.node, lane), done);
                }
            }
        }
    }

    /// A part for each rank of the node: those of others as they come, and in one's own place what comes by the ring.
    [[nodiscard]] std::int64_t scratch(int rank) const {
        const LanePlace mine(lanes_, rank);
        return mine.local < lanes_.number ? mine.size * longest_part() : 0;
    }

    /// A lane's part leaves a node once in either half, but for one piece each time.
    [[nodiscard]] std::int64_t most_leaving_node() const {
        if (nodes_ == 1) return 0;
        std::int64_t most = 0;
        for (int position = 0; position < nodes_; ++position) {
            std::int64_t leaving = 0;
            for (int lane = 0; lane < lanes_.number; ++lane) {
                leaving += 2 * part(Buffer::receive, lane).count - whole_piece(lane, position + 1).count -
                           whole_piece(lane, position + 2).count;
            }
            most = std::max(most, leaving);
        }
        return most;
    }

  private:
    [[nodiscard]] std::int64_t longest_part() const { return part_of(shape_.count, lanes_.number, 0).count; }
    [[nodiscard]] Region part(Buffer buffer, int lane) const { return lanes_.part({buffer, 0, shape_.count}, lane); }
    /// A piece of a lane's part, counted from the part's beginning; pieces are counted round.
    [[nodiscard]] Part whole_piece(int lane, int number) const {
        return part_of(part(Buffer::receive, lane).count, nodes_, (number % nodes_ + nodes_) % nodes_);
    }
    [[nodiscard]] Region cut(Buffer buffer, std::int64_t part_begins, const Part& piece, std::int64_t segment) const {
        const auto first = std::min(piece.end(), piece.first + segment * segments_.length);
        return {buffer, part_begins + first, std::min(segments_.length, piece.end() - first)};
    }
    [[nodiscard]] Region piece(Buffer buffer, int lane, int number, std::int64_t segment) const {
        return cut(buffer, part(buffer, lane).first, whole_piece(lane, number), segment);
    }
    /// Where a lane's rank keeps what comes from the rank at `local` of its node, or by the ring in its own place.
    [[nodiscard]] Region aside(const LanePlace& mine, int local, int number, std::int64_t segment) const {
        return cut(Buffer::scratch, local * longest_part(), whole_piece(mine.local, number), segment);
    }

    /// In the order in which pieces leave the node.
    void bring_together(const LanePlace& mine, Steps& steps) const {
        const auto on_node = [&](int local) { return lanes_.hierarchy.rank_at(mine.node, local); };
        for (int turn = 0; turn < nodes_; ++turn) {
            const int number = mine.position - turn;
            for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
                const auto part = [&](int lane) { return piece(Buffer::send, lane, number, segment); };
                const auto from = [&](int local) { return aside(mine, local, number, segment); };
                direct_reduce_scatter(mine.local, mine.size, lanes_.number, on_node, part, from, steps);
            }
        }
    }

    /// The node's own sum, and what came by the ring where the piece has been on other nodes.
    [[nodiscard]] Region put_together(const LanePlace& mine, int number, std::int64_t segment, bool came,
                                      Steps& steps) const {
        const Region sum = piece(Buffer::receive, mine.local, number, segment);
        steps.copy(piece(Buffer::send, mine.local, number, segment), sum);
        for (int local = 0; local < mine.size; ++local) {
            if (local != mine.local || came) steps.reduce(aside(mine, local, number, segment), sum);
        }
        return sum;
    }

    void pass_sum_on(const LanePlace& mine, int step, std::int64_t segment, Steps& steps) const {
        const Region sum = put_together(mine, mine.position - step, segment, step > 0, steps);
        steps.receive(lanes_.at(mine.position - 1, mine.local),
                      aside(mine, mine.local, mine.position - step - 1, segment));
        steps.send(lanes_.at(mine.position + 1, mine.local), sum);
    }

    void pass_result_on(const LanePlace& mine, int step, std::int64_t segment, Steps& steps) const {
        const int number = mine.position + 1 - step;
        const Region result = step == 0 ? put_together(mine, number, segment, nodes_ > 1, steps)
                                        : piece(Buffer::receive, mine.local, number, segment);
        if (step < nodes_ - 1) {
            steps.receive(lanes_.at(mine.position - 1, mine.local),
                          piece(Buffer::receive, mine.local, number - 1, segment));
            steps.send(lanes_.at(mine.position + 1, mine.local), result);
        }
        for (int i = 1; i < mine.size; ++i) {
            steps.send(lanes_.hierarchy.rank_at(mine.node, (mine.local + i) % mine.size), result);
        }
    }

    const Shape& shape_;
    Lanes lanes_;
    int nodes_;
    Segments segments_{};
};

const Register entry{{
    .collective = "allreduce",
    .name = "full_lane",
    .source = kFullLaneSource,
    .cost = "2(n − 1) α + 2 (n−1)/n βm, n nodes, m leaving a node",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {kLaneSegments, kLanes},
    .aliases = {},
    .rounds = [](const Shape& shape) { return Allreduce(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { Allreduce(shape).round(rank, k, steps); },
    .scratch = [](const Shape& shape, int rank) { return Allreduce(shape).scratch(rank); },
    .claims = {.most_leaving_node = [](const Shape& shape) { return Allreduce(shape).most_leaving_node(); }},
}};

}  // namespace
}  // namespace timpani::allreduce_full_lane
