// Broadcast in lanes (schedule/patterns/lanes.hpp), for nodes with several ranks, in segments:
// 1. The root scatters each segment over the ranks of its node, one part for each lane.
// 2. Each lane sends its part along a chain of all nodes.
// 3. On every node each lane's rank sends its part to the other ranks.
// The message crosses a node's link at most once in each direction, and all lanes' ranks drive the link.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/lanes.hpp"

namespace timpani::bcast_full_lane {
namespace {

class Broadcast {
  public:
    explicit Broadcast(const CollectiveArguments& args)
        : args_(args),
          lanes_(args, args.parameters[1]),
          segments_(Segments::of(args, args.parameters[0] * lanes_.number)) {}

    [[nodiscard]] std::int64_t rounds() const {
        return args_.ranks == 1 ? 0 : segments_.number() + depth(lanes_.hierarchy.nodes() - 1, lanes_.number - 1);
    }

    /// A rank is active from the round before a segment can reach its node until the last has left.
    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const {
        const int position = LanePlace(lanes_, rank).position;
        return k <= position + segments_.number() ? std::max<std::int64_t>(k, position - 1) : rounds();
    }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        // Its own lane's part first, since the root sends that first.
        for (int i = 0; rank != args_.root && i < lanes_.number; ++i) {
            receive(mine, (mine.local + i) % lanes_.number, k, rank, steps);
        }
        if (mine.local >= lanes_.number) return;
        const auto segment = k - depth(mine.position, mine.local);
        if (!segments_.has(segment)) return;
        const Region part = part_of_segment(rank, segment, mine.local);
        if (mine.position + 1 < lanes_.hierarchy.nodes()) {
            steps.send(lanes_.rank_at(mine.position + 1, mine.local), part);
        }
        for (int lane = 1; rank == args_.root && lane < lanes_.number; ++lane) {
            steps.send(lanes_.rank_at(0, lane), part_of_segment(rank, segment, lane));
        }
        for (int local = mine.position == 0 ? 1 : 0; local < mine.size; ++local) {
            if (local != mine.local) steps.send(lanes_.hierarchy.rank_at(mine.node, local), part);
        }
    }

  private:
    /// Hops from the root to a lane's rank on the node at `position`; the root is the rank of lane 0 there.
    static std::int64_t depth(int position, int lane) { return position + (lane > 0 ? 1 : 0); }
    [[nodiscard]] Region part_of_segment(int rank, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(data_of(args_, rank), segment), lane);
    }

    /// Receives a lane's part of the segment that arrives in round k. The lane's rank receives it from the node before,
    /// and the node's other ranks from the lane's rank.
    void receive(const LanePlace& mine, int lane, std::int64_t k, int rank, Steps& steps) const {
        const bool own_lane = lane == mine.local;
        const auto segment = k - depth(mine.position, lane) + (own_lane ? 1 : 0);
        if (!segments_.has(segment)) return;
        const int from = !own_lane           ? lanes_.hierarchy.rank_at(mine.node, lane)
                         : mine.position > 0 ? lanes_.rank_at(mine.position - 1, lane)
                                             : args_.root;
        steps.receive(from, part_of_segment(rank, segment, lane));
    }

    const CollectiveArguments& args_;
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
    .prepare = prepared<Broadcast>,
    .claims = {.max_leaving_node = message_to_other_nodes},
}};

}  // namespace
}  // namespace timpani::bcast_full_lane
