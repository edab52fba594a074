// Allreduce in lanes (schedule/patterns/lanes.hpp) through the memory that a node's ranks share, in segments:
// 1. Every rank copies its segment into the node's window.
// 2. Each lane's rank reduces its part of all these segments there.
// 3. The ranks of each lane run a ring allreduce of their part over all nodes.
// 4. Every rank copies the result out of the window.
// The operator must commute.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/patterns/lanes.hpp"
#include "schedule/patterns/ring_allreduce.hpp"
#include "schedule/sub_collective.hpp"

namespace timpani::allreduce_full_lane_shared {
namespace {

class Allreduce {
  public:
    explicit Allreduce(const CollectiveArguments& args)
        : args_(args),
          lanes_(args, args.parameters[1]),
          nodes_(lanes_.hierarchy.nodes()),
          segments_(Segments::of(args, args.parameters[0] * lanes_.number * nodes_)),
          ring_rounds_(ring(0).rounds()) {}

    [[nodiscard]] std::int64_t rounds() const { return 1 + segments_.number() * rounds_of_segment(); }

    /// While a segment is reduced and travels around the ring, the next one is copied into the other half of the
    /// window. One notification means both that a rank's contribution to the next segment is ready and that its part of
    /// the current result is. It also means that the rank has read what was there before: by then it has read the
    /// earlier result and the others' contributions.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        if (k == 0) {
            copy_in(mine, 0, steps);
            return notify_node(mine, {.contribution = true}, steps);
        }
        const std::int64_t segment = (k - 1) / rounds_of_segment();
        const std::int64_t step = (k - 1) % rounds_of_segment();
        const bool in_lane = mine.local < lanes_.number;
        if (step == 0) {
            if (segment + 1 < segments_.number()) copy_in(mine, segment + 1, steps);
            if (in_lane) reduce_part(mine, segment, steps);
        } else if (step <= ring_rounds_) {
            if (in_lane) ring_round(mine, segment, step - 1, steps);
        } else {
            copy_out(mine, segment, steps);
        }
    }

    /// Two halves, each with a contribution of every rank of a node and the result.
    [[nodiscard]] std::int64_t window() const {
        const std::int64_t maximum = args_.topology->max_ranks_per_node();
        return maximum == 1 ? 0 : 2 * (maximum + 1) * segments_.length;
    }

    /// A lane's part travels around the ring twice, except one piece each time.
    [[nodiscard]] std::int64_t max_leaving_node() const {
        std::int64_t maximum = 0;
        for (int position = 0; nodes_ > 1 && position < nodes_; ++position) {
            std::int64_t leaving = 0;
            for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
                for (int lane = 0; lane < lanes_.number; ++lane) {
                    leaving += ring_elements_sent(lane_part(Buffer::send, segment, lane).count, nodes_, position);
                }
            }
            maximum = std::max(maximum, leaving);
        }
        return maximum;
    }

  private:
    /// Copying in and reducing, the ring, copying out.
    [[nodiscard]] std::int64_t rounds_of_segment() const { return ring_rounds_ + 2; }
    [[nodiscard]] SubCollective ring(std::int64_t count) const { return {ring_, args_, nodes_, count}; }
    [[nodiscard]] Region lane_part(Buffer buffer, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(buffer, segment), lane);
    }
    /// Where the rank at `local` of a node copies a segment to. The result is behind the places of all ranks.
    [[nodiscard]] Region contribution(int local, std::int64_t segment) const {
        const int places = args_.topology->max_ranks_per_node() + 1;
        return {Buffer::window, (segment % 2 * places + local) * segments_.length,
                segments_.region(Buffer::window, segment).count};
    }
    [[nodiscard]] Region result(std::int64_t segment) const {
        return contribution(args_.topology->max_ranks_per_node(), segment);
    }

    /// What a notification reports as ready. Contributions matter to the lanes' ranks. Parts of the result come from
    /// these ranks and matter to all.
    struct Ready {
        bool contribution = false;
        bool result = false;
    };
    [[nodiscard]] bool concerns(int local, int by, const Ready& ready) const {
        return local != by && ((ready.contribution && local < lanes_.number) || (ready.result && by < lanes_.number));
    }
    void notify_node(const LanePlace& mine, const Ready& ready, Steps& steps) const {
        for (int local = 0; local < mine.size; ++local) {
            if (concerns(local, mine.local, ready)) steps.notify(lanes_.hierarchy.rank_at(mine.node, local));
        }
    }

    void copy_in(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        if (mine.size > 1) steps.copy(segments_.region(Buffer::send, segment), contribution(mine.local, segment));
    }

    void reduce_part(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        const Region sum = lanes_.part(contribution(mine.local, segment), mine.local);
        for (int local = 0; local < mine.size; ++local) {
            if (local == mine.local) continue;
            if (segment == 0) steps.await(lanes_.hierarchy.rank_at(mine.node, local));
            steps.reduce(lanes_.part(contribution(local, segment), mine.local), sum);
        }
    }

    /// One round of a lane's ring allreduce. A rank that is alone on its node needs no window.
    void ring_round(const LanePlace& mine, std::int64_t segment, std::int64_t step, Steps& steps) const {
        const bool alone = mine.size == 1;
        const Region from = alone ? lane_part(Buffer::send, segment, mine.local)
                                  : lanes_.part(contribution(mine.local, segment), mine.local);
        const Region to =
            alone ? lane_part(Buffer::receive, segment, mine.local) : lanes_.part(result(segment), mine.local);
        const auto rank_of = [&](int position) { return lanes_.rank_at(position, mine.local); };
        ring(from.count).round(mine.position, step, {from, to, {Buffer::scratch}}, rank_of, steps);
    }

    void copy_out(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        if (mine.size == 1) return;
        const Ready ready{.contribution = segment + 1 < segments_.number(), .result = true};
        notify_node(mine, ready, steps);
        for (int local = 0; local < mine.size; ++local) {
            if (concerns(mine.local, local, ready)) steps.await(lanes_.hierarchy.rank_at(mine.node, local));
        }
        steps.copy(result(segment), segments_.region(Buffer::receive, segment));
    }

    const CollectiveArguments& args_;
    Lanes lanes_;
    int nodes_;
    Segments segments_;
    const Algorithm& ring_ = inner_algorithm("allreduce", "ring");
    std::int64_t ring_rounds_;
};

const Register entry{{
    .collective = "allreduce",
    .name = "full_lane_shared",
    .source = "Graham, Shipman, EuroPVM/MPI 2008; Träff, Hunold, CLUSTER 2020",
    .cost = "2(n − 1) α + 2 (n−1)/n βm, n nodes, m leaving a node",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {kLaneSegments, kLanes},
    .prepare = prepared<Allreduce>,
    .window = [](const CollectiveArguments& args) { return Allreduce(args).window(); },
    .claims = {.max_leaving_node = [](const CollectiveArguments& args) { return Allreduce(args).max_leaving_node(); }},
}};

}  // namespace
}  // namespace timpani::allreduce_full_lane_shared
