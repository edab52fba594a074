// Reduce in lanes (schedule/patterns/lanes.hpp), for nodes with several ranks, in segments:
// 1. A direct reduce-scatter inside each node leaves each lane's part of the segment with the lane's rank.
// 2. Each lane reduces its part along a chain of all nodes to the root's node.
// 3. There the lanes' ranks send their parts to the root.
// The operator must commute.

#include "schedule/algorithm.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/direct_exchange.hpp"
#include "schedule/patterns/lanes.hpp"

namespace timpani::reduce_full_lane {
namespace {

class Reduction {
  public:
    explicit Reduction(const CollectiveArguments& args)
        : args_(args),
          lanes_(args, args.parameters[1]),
          segments_(Segments::of(args, args.parameters[0] * lanes_.number)) {}

    [[nodiscard]] std::int64_t rounds() const { return segments_.number() + 1 + last_position(); }

    /// A rank is active while its node exchanges segments, and from the time at which the chain reaches the node.
    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const {
        const auto reached = last_position() - LanePlace(lanes_, rank).position;
        if (k <= segments_.number()) return k;
        return k <= reached + segments_.number() ? std::max<std::int64_t>(k, reached) : rounds();
    }

    /// Segment s is exchanged inside each node in round s and reduced there in the next round. In round s + 1 + last −
    /// a the chain takes it past the node at position a, counted from the root's.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        const auto in_chain = k - 1 - (last_position() - mine.position);
        if (mine.local < lanes_.number) {
            if (segments_.has(k - 1)) reduce_contributions(mine, rank, k - 1, steps);
            if (segments_.has(in_chain)) send_along_chain(mine, rank, in_chain, steps);
        }
        for (int lane = 1; rank == args_.root && segments_.has(in_chain) && lane < lanes_.number; ++lane) {
            steps.receive(lanes_.hierarchy.rank_at(mine.node, lane), part(Buffer::receive, in_chain, lane));
        }
        if (segments_.has(k)) exchange_on_node(mine, k, steps);
        if (mine.local < lanes_.number && mine.position < last_position() && segments_.has(in_chain + 1)) {
            steps.receive(lanes_.rank_at(mine.position + 1, mine.local), from_chain(mine, in_chain + 1));
        }
    }

    /// Partial results of all segments, then the parts from the node's ranks, and the one from the chain.
    [[nodiscard]] std::int64_t scratch(int rank) const {
        const LanePlace mine(lanes_, rank);
        return mine.local < lanes_.number ? args_.count + (mine.size + 1) * longest_part() : 0;
    }

  private:
    [[nodiscard]] int last_position() const { return lanes_.hierarchy.nodes() - 1; }
    [[nodiscard]] std::int64_t longest_part() const {
        return part_of(std::min(segments_.length, args_.count), lanes_.number, 0).count;
    }
    [[nodiscard]] Region part(Buffer buffer, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(buffer, segment), lane);
    }
    [[nodiscard]] Region sum(const LanePlace& mine, int rank, std::int64_t segment) const {
        return part(rank == args_.root ? Buffer::receive : Buffer::scratch, segment, mine.local);
    }
    [[nodiscard]] Region from_rank(const LanePlace& mine, int local, std::int64_t segment) const {
        return {Buffer::scratch, args_.count + local * longest_part(), part(Buffer::send, segment, mine.local).count};
    }
    [[nodiscard]] Region from_chain(const LanePlace& mine, std::int64_t segment) const {
        return from_rank(mine, mine.size, segment);
    }

    void exchange_on_node(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        const auto on_node = [&](int local) { return lanes_.hierarchy.rank_at(mine.node, local); };
        const auto to_lane = [&](int lane) { return part(Buffer::send, segment, lane); };
        const auto contribution = [&](int local) { return from_rank(mine, local, segment); };
        direct_reduce_scatter(mine.local, mine.size, lanes_.number, on_node, to_lane, contribution, steps);
    }

    void reduce_contributions(const LanePlace& mine, int rank, std::int64_t segment, Steps& steps) const {
        const Region all = sum(mine, rank, segment);
        steps.copy(part(Buffer::send, segment, mine.local), all);
        for (int local = 0; local < mine.size; ++local) {
            if (local != mine.local) steps.reduce(from_rank(mine, local, segment), all);
        }
    }

    void send_along_chain(const LanePlace& mine, int rank, std::int64_t segment, Steps& steps) const {
        const Region all = sum(mine, rank, segment);
        if (mine.position < last_position()) steps.reduce(from_chain(mine, segment), all);
        if (mine.position > 0) steps.send(lanes_.rank_at(mine.position - 1, mine.local), all);
        if (mine.position == 0 && rank != args_.root) steps.send(args_.root, all);
    }

    const CollectiveArguments& args_;
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
    .prepare = prepared<Reduction>,
    .scratch = [](const CollectiveArguments& args, int rank) { return Reduction(args).scratch(rank); },
    .claims = {.max_leaving_node = message_to_other_nodes},
}};

}  // namespace
}  // namespace timpani::reduce_full_lane
