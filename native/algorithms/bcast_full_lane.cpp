// Broadcast over lanes, in segments: the root deals each segment out to ranks of its node, each passes its part on
// along a chain of all nodes, and on every node they give what has come to the other ranks there. A node's link carries
// the message once each way at most, driven by as many ranks as there are lanes.

#include "schedule/algorithm.hpp"
#include "schedule/lanes.hpp"

namespace timpani::bcast_full_lane {
namespace {

class Broadcast {
  public:
    explicit Broadcast(const Shape& shape)
        : shape_(shape),
          lanes_(shape, shape.parameters[1]),
          segments_(Segments::of(shape, shape.parameters[0] * lanes_.number)) {}

    [[nodiscard]] std::int64_t rounds() const {
        return shape_.ranks == 1 ? 0 : segments_.number() + depth(lanes_.hierarchy.nodes() - 1, lanes_.number - 1);
    }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        for (int i = 0; rank != shape_.root && i < lanes_.number; ++i) {
            receive(mine, (mine.local + i) % lanes_.number, k, rank,
                    steps);  // one's own lane's first, as the root deals
        }
        if (mine.local >= lanes_.number) return;
        const auto due = k - depth(mine.position, mine.local);
        if (!in_range(due)) return;
        const Region part = part_of_segment(rank, due, mine.local);
        if (mine.position + 1 < lanes_.hierarchy.nodes()) steps.send(lanes_.at(mine.position + 1, mine.local), part);
        for (int lane = 1; rank == shape_.root && lane < lanes_.number; ++lane) {
            steps.send(lanes_.at(0, lane), part_of_segment(rank, due, lane));
        }
        for (int local = mine.position == 0 ? 1 : 0; local < mine.size; ++local) {
            if (local != mine.local) steps.send(lanes_.hierarchy.rank_at(mine.node, local), part);
        }
    }

  private:
    /// Hops to a lane's rank on a node from the root, which is one itself.
    static std::int64_t depth(int position, int lane) { return position + (lane > 0 ? 1 : 0); }
    [[nodiscard]] bool in_range(std::int64_t segment) const { return segment >= 0 && segment < segments_.number(); }
    [[nodiscard]] Region part_of_segment(int rank, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(data_of(shape_, rank), segment), lane);
    }

    /// A lane's part of the segment that comes in round k: by the lane from the node before, else from the lane's rank
    /// on this node.
    void receive(const LanePlace& mine, int lane, std::int64_t k, int rank, Steps& steps) const {
        const bool by_lane = lane == mine.local;
        const auto came = k - depth(mine.position, lane) + (by_lane ? 1 : 0);
        if (!in_range(came)) return;
        const int from = !by_lane            ? lanes_.hierarchy.rank_at(mine.node, lane)
                         : mine.position > 0 ? lanes_.at(mine.position - 1, lane)
                                             : shape_.root;
        steps.receive(from, part_of_segment(rank, came, lane));
    }

    const Shape& shape_;
    Lanes lanes_;
    Segments segments_;
};

const Register entry{{
    .collective = "bcast",
    .name = "full_lane",
    .source = kFullLaneSource,
    .cost = "(n + q) α + (n + q) βm/q, n nodes, q segments",
    .restrictions = {.topology = true},
    .parameters = {kLaneSegments, kLanes},
    .aliases = {},
    .rounds = [](const Shape& shape) { return Broadcast(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { Broadcast(shape).round(rank, k, steps); },
    .claims = {.most_leaving_node = [](const Shape& shape) { return shape.topology->nodes() > 1 ? shape.count : 0; }},
}};

}  // namespace
}  // namespace timpani::bcast_full_lane
