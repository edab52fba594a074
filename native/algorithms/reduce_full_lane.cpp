// Reduce over lanes, in segments: the ranks of a node put a segment together, each lane's part at the lane's rank; each
// lane reduces its part along a chain of all nodes to the root's, where the parts go to the root. The operator must
// commute.

#include "schedule/algorithm.hpp"
#include "schedule/lanes.hpp"

namespace timpani::reduce_full_lane {
namespace {

class Reduction {
  public:
    explicit Reduction(const Shape& shape)
        : shape_(shape),
          lanes_(shape, shape.parameters[1]),
          segments_(Segments::of(shape, shape.parameters[0] * lanes_.number)) {}

    [[nodiscard]] std::int64_t rounds() const { return segments_.number() + 1 + last_position(); }

    /// Segment s comes together on each node in round s, and passes the node at position a, counted from the root's, in
    /// round s + 1 + last − a.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        const auto passing = k - 1 - (last_position() - mine.position);
        if (mine.local < lanes_.number) {
            if (in_range(k - 1)) put_together(mine, rank, k - 1, steps);
            if (in_range(passing)) pass_on(mine, rank, passing, steps);
        }
        for (int lane = 1; rank == shape_.root && in_range(passing) && lane < lanes_.number; ++lane) {
            steps.receive(lanes_.hierarchy.rank_at(mine.node, lane), part(Buffer::receive, passing, lane));
        }
        if (in_range(k)) bring_together(mine, k, steps);
        if (mine.local < lanes_.number && mine.position < last_position() && in_range(passing + 1)) {
            steps.receive(lanes_.at(mine.position + 1, mine.local), from_chain(mine, passing + 1));
        }
    }

    /// The sum of all segments so far, then the parts that come from the node, and the one from the chain.
    [[nodiscard]] std::int64_t scratch(int rank) const {
        const LanePlace mine(lanes_, rank);
        return mine.local < lanes_.number ? shape_.count + (mine.size + 1) * longest_part() : 0;
    }

    [[nodiscard]] std::int64_t most_leaving_node() const { return last_position() > 0 ? shape_.count : 0; }

  private:
    [[nodiscard]] int last_position() const { return lanes_.hierarchy.nodes() - 1; }
    [[nodiscard]] bool in_range(std::int64_t segment) const { return segment >= 0 && segment < segments_.number(); }
    [[nodiscard]] std::int64_t longest_part() const {
        return part_of(std::min(segments_.length, shape_.count), lanes_.number, 0).count;
    }
    [[nodiscard]] Region part(Buffer buffer, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(buffer, segment), lane);
    }
    [[nodiscard]] Region sum(const LanePlace& mine, int rank, std::int64_t segment) const {
        return part(rank == shape_.root ? Buffer::receive : Buffer::scratch, segment, mine.local);
    }
    [[nodiscard]] Region from_rank(const LanePlace& mine, int local, std::int64_t segment) const {
        return {Buffer::scratch, shape_.count + local * longest_part(), part(Buffer::send, segment, mine.local).count};
    }
    [[nodiscard]] Region from_chain(const LanePlace& mine, std::int64_t segment) const {
        return from_rank(mine, mine.size, segment);
    }

    void bring_together(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        for (int offset = 1; offset < mine.size; ++offset) {
            const int to = (mine.local + offset) % mine.size;
            const int from = (mine.local - offset + mine.size) % mine.size;
            if (mine.local < lanes_.number) {
                steps.receive(lanes_.hierarchy.rank_at(mine.node, from), from_rank(mine, from, segment));
            }
            if (to < lanes_.number) {
                steps.send(lanes_.hierarchy.rank_at(mine.node, to), part(Buffer::send, segment, to));
            }
        }
    }

    void put_together(const LanePlace& mine, int rank, std::int64_t segment, Steps& steps) const {
        const Region all = sum(mine, rank, segment);
        steps.copy(part(Buffer::send, segment, mine.local), all);
        for (int local = 0; local < mine.size; ++local) {
            if (local != mine.local) steps.reduce(from_rank(mine, local, segment), all);
        }
    }

    void pass_on(const LanePlace& mine, int rank, std::int64_t segment, Steps& steps) const {
        const Region all = sum(mine, rank, segment);
        if (mine.position < last_position()) steps.reduce(from_chain(mine, segment), all);
        if (mine.position > 0) steps.send(lanes_.at(mine.position - 1, mine.local), all);
        if (mine.position == 0 && rank != shape_.root) steps.send(shape_.root, all);
    }

    const Shape& shape_;
    Lanes lanes_;
    Segments segments_;
};

const Register entry{{
    .collective = "reduce",
    .name = "full_lane",
    .source = kFullLaneSource,
    .cost = "(n + q) (α + (β + γ) m/q), n nodes, q segments",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {kLaneSegments, kLanes},
    .aliases = {},
    .rounds = [](const Shape& shape) { return Reduction(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { Reduction(shape).round(rank, k, steps); },
    .scratch = [](const Shape& shape, int rank) { return Reduction(shape).scratch(rank); },
    .claims = {.most_leaving_node = [](const Shape& shape) { return Reduction(shape).most_leaving_node(); }},
}};

}  // namespace
}  // namespace timpani::reduce_full_lane
