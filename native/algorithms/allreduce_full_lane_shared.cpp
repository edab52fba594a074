// Allreduce over lanes through memory that a node's ranks share, in segments: each rank copies its segment into the
// node's window, where each lane's rank puts its part of all of them together; each lane reduces its part round a ring
// of all nodes; and all ranks of a node take the result from the window. The operator must commute.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/lanes.hpp"
#include "schedule/ring_allreduce.hpp"
#include "schedule/sub_collective.hpp"

namespace timpani::allreduce_full_lane_shared {
namespace {

class Allreduce {
  public:
    explicit Allreduce(const Shape& shape)
        : shape_(shape),
          lanes_(shape, shape.parameters[1]),
          nodes_(lanes_.hierarchy.nodes()),
          segments_(Segments::of(shape, shape.parameters[0] * lanes_.number * nodes_)),
          ring_rounds_(ring(0).rounds()) {}

    [[nodiscard]] std::int64_t rounds() const { return 1 + segments_.number() * rounds_of_segment(); }

    /// While a segment is put together and goes round the next one is brought, into the other half of the window; that
    /// it is there a rank says with that the result is. Who says so has read the result before, and what others
    /// brought.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        if (k == 0) {
            bring(mine, 0, steps);
            return tell(mine, {.brought = true}, steps);
        }
        const std::int64_t segment = (k - 1) / rounds_of_segment();
        const std::int64_t step = (k - 1) % rounds_of_segment();
        const bool drives = mine.local < lanes_.number;
        if (step == 0) {
            if (segment + 1 < segments_.number()) bring(mine, segment + 1, steps);
            if (drives) put_together(mine, segment, steps);
        } else if (step <= ring_rounds_) {
            if (drives) pass_round(mine, segment, step - 1, steps);
        } else {
            hand_out(mine, segment, steps);
        }
    }

    /// Two halves with the contributions of each rank of a node, and the result.
    [[nodiscard]] std::int64_t window() const {
        const std::int64_t most = shape_.topology->most_ranks_on_a_node();
        return most == 1 ? 0 : 2 * (most + 1) * segments_.length;
    }

    /// A lane's part goes round twice, but for one piece each time.
    [[nodiscard]] std::int64_t most_leaving_node() const {
        std::int64_t most = 0;
        for (int position = 0; nodes_ > 1 && position < nodes_; ++position) {
            std::int64_t leaving = 0;
            for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
                for (int lane = 0; lane < lanes_.number; ++lane) {
                    leaving += ring_elements_sent(lane_part(Buffer::send, segment, lane).count, nodes_, position);
                }
            }
            most = std::max(most, leaving);
        }
        return most;
    }

  private:
    /// Bringing and putting together, the ring, and handing out.
    [[nodiscard]] std::int64_t rounds_of_segment() const { return ring_rounds_ + 2; }
    [[nodiscard]] SubCollective ring(std::int64_t count) const {
        Shape inside = shape_;
        inside.ranks = nodes_;
        inside.count = count;
        inside.topology = nullptr;
        return {"allreduce", "ring", inside};
    }
    [[nodiscard]] Region lane_part(Buffer buffer, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(buffer, segment), lane);
    }
    /// Where the rank at `local` of a node brings a segment, and behind all ranks' places the result.
    [[nodiscard]] Region brought(int local, std::int64_t segment) const {
        const int places = shape_.topology->most_ranks_on_a_node() + 1;
        return {Buffer::window, (segment % 2 * places + local) * segments_.length,
                segments_.region(Buffer::window, segment).count};
    }
    [[nodiscard]] Region result(std::int64_t segment) const {
        return brought(shape_.topology->most_ranks_on_a_node(), segment);
    }

    /// What there is to tell on a node: lanes must know what all have brought, and all what lanes made of it.
    struct News {
        bool brought = false;
        bool result = false;
    };
    [[nodiscard]] bool is_told(int local, int by, const News& news) const {
        return local != by && ((news.brought && local < lanes_.number) || (news.result && by < lanes_.number));
    }
    void tell(const LanePlace& mine, const News& news, Steps& steps) const {
        for (int local = 0; local < mine.size; ++local) {
            if (is_told(local, mine.local, news)) steps.notify(lanes_.hierarchy.rank_at(mine.node, local));
        }
    }

    void bring(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        if (mine.size > 1) steps.copy(segments_.region(Buffer::send, segment), brought(mine.local, segment));
    }

    void put_together(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        const Region sum = lanes_.part(brought(mine.local, segment), mine.local);
        for (int local = 0; local < mine.size; ++local) {
            if (local == mine.local) continue;
            if (segment == 0) steps.await(lanes_.hierarchy.rank_at(mine.node, local));
            steps.reduce(lanes_.part(brought(local, segment), mine.local), sum);
        }
    }

    /// A rank that is alone on its node needs no window.
    void pass_round(const LanePlace& mine, std::int64_t segment, std::int64_t step, Steps& steps) const {
        const bool alone = mine.size == 1;
        const Region from = alone ? lane_part(Buffer::send, segment, mine.local)
                                  : lanes_.part(brought(mine.local, segment), mine.local);
        const Region to =
            alone ? lane_part(Buffer::receive, segment, mine.local) : lanes_.part(result(segment), mine.local);
        const SubCollective::Buffers buffers{{{from.buffer, from.first}, {to.buffer, to.first}, {Buffer::scratch, 0}}};
        const auto member = [&](int position) { return lanes_.at(position, mine.local); };
        ring(from.count).round(mine.position, step, buffers, member, steps);
    }

    void hand_out(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        if (mine.size == 1) return;
        const News news{.brought = segment + 1 < segments_.number(), .result = true};
        tell(mine, news, steps);
        for (int local = 0; local < mine.size; ++local) {
            if (is_told(mine.local, local, news)) steps.await(lanes_.hierarchy.rank_at(mine.node, local));
        }
        steps.copy(result(segment), segments_.region(Buffer::receive, segment));
    }

    const Shape& shape_;
    Lanes lanes_;
    int nodes_;
    Segments segments_;
    std::int64_t ring_rounds_;
};

const Register entry{{
    .collective = "allreduce",
    .name = "full_lane_shared",
    .source = "Graham, Shipman, EuroPVM/MPI 2008; Träff, Hunold, CLUSTER 2020",
    .cost = "2(n − 1) α + 2 (n−1)/n βm, n nodes, m leaving a node",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {kLaneSegments, kLanes},
    .aliases = {},
    .rounds = [](const Shape& shape) { return Allreduce(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { Allreduce(shape).round(rank, k, steps); },
    .window = [](const Shape& shape) { return Allreduce(shape).window(); },
    .claims = {.most_leaving_node = [](const Shape& shape) { return Allreduce(shape).most_leaving_node(); }},
}};

}  // namespace
}  // namespace timpani::allreduce_full_lane_shared
