// Allreduce over lanes, in segments: the ranks of a node put a segment together, each lane's part at the lane's rank;
// each lane reduces its part round a ring over all nodes; and what it comes to goes to the other ranks of each node.
// While a segment goes round the rings, the next one's parts come together on the nodes. The operator must commute.

#include "schedule/algorithm.hpp"
#include "schedule/lanes.hpp"

namespace timpani {
namespace {

class Allreduce {
  public:
    explicit Allreduce(const Shape& shape)
        : shape_(shape), lanes_(shape, shape.parameters[1]), segments_(Segments::of(shape, shape.parameters[0])) {}

    /// One turn a segment and one more, in each turn the messages inside nodes and then the rounds of the rings.
    [[nodiscard]] std::int64_t rounds() const { return (segments_.number() + 1) * turn(); }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        const std::int64_t gathered = k / turn();
        const std::int64_t under_way = gathered - 1;
        if (k % turn() == 0) {
            if (under_way >= 0) put_together(mine, under_way, steps);
            if (gathered < segments_.number()) bring_together(mine, gathered, steps);
        } else if (under_way >= 0) {
            const auto step = k % turn() - 1;
            if (step < steps_round_ring()) {
                if (mine.local < lanes_.number) go_round(mine, under_way, static_cast<int>(step), steps);
            } else {
                hand_out(mine, under_way, steps);
            }
        }
    }

    /// Parts of others that come together at a lane's rank, and a ring's segment on its way.
    [[nodiscard]] std::int64_t scratch(int rank) const {
        const LanePlace mine(lanes_, rank);
        return mine.local < lanes_.number ? mine.size * longest_part() : 0;
    }

    /// A lane's part leaves a node once in either phase of the ring, but for one piece each time.
    [[nodiscard]] std::int64_t most_leaving_node() const {
        const int nodes = lanes_.teams.nodes();
        if (nodes == 1) return 0;
        std::int64_t most = 0;
        for (int position = 0; position < nodes; ++position) {
            std::int64_t leaving = 0;
            for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
                for (int lane = 0; lane < lanes_.number; ++lane) {
                    const Region part = lanes_.part(segments_.region(Buffer::receive, segment), lane);
                    leaving += 2 * part.count - piece(part, position + 1).count - piece(part, position + 2).count;
                }
            }
            most = std::max(most, leaving);
        }
        return most;
    }

  private:
    [[nodiscard]] int steps_round_ring() const { return 2 * (lanes_.teams.nodes() - 1); }
    [[nodiscard]] std::int64_t turn() const { return steps_round_ring() + 2; }
    [[nodiscard]] std::int64_t longest_part() const {
        return part_of(std::min(segments_.length, shape_.count), lanes_.number, 0).count;
    }
    /// The piece of a part that a ring calls by a number, counted round.
    [[nodiscard]] Region piece(const Region& part, int number) const {
        const int nodes = lanes_.teams.nodes();
        const Part cut = part_of(part.count, nodes, (number % nodes + nodes) % nodes);
        return {part.buffer, part.first + cut.first, cut.count};
    }
    [[nodiscard]] Region part_in(Buffer buffer, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(buffer, segment), lane);
    }
    /// Where a lane's rank keeps the part that comes from the rank at `local` of its node; its own place is the ring's.
    [[nodiscard]] Region place(int local, const Region& like) const {
        return {Buffer::scratch, local * longest_part(), like.count};
    }

    void bring_together(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        for (int offset = 1; offset < mine.size; ++offset) {
            const int to = (mine.local + offset) % mine.size;
            const int from = (mine.local - offset + mine.size) % mine.size;
            if (mine.local < lanes_.number) {
                steps.receive(lanes_.teams.rank_at(mine.node, from),
                              place(from, part_in(Buffer::send, segment, mine.local)));
            }
            if (to < lanes_.number) {
                steps.send(lanes_.teams.rank_at(mine.node, to), part_in(Buffer::send, segment, to));
            }
        }
    }

    void put_together(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        if (mine.local >= lanes_.number) return;
        const Region all = part_in(Buffer::receive, segment, mine.local);
        steps.copy(part_in(Buffer::send, segment, mine.local), all);
        for (int local = 0; local < mine.size; ++local) {
            if (local != mine.local) steps.reduce(place(local, all), all);
        }
    }

    void go_round(const LanePlace& mine, std::int64_t segment, int step, Steps& steps) const {
        const int nodes = lanes_.teams.nodes();
        const Region part = part_in(Buffer::receive, segment, mine.local);
        const int left = lanes_.at(mine.position - 1, mine.local);
        const int right = lanes_.at(mine.position + 1, mine.local);
        const bool reducing = step < nodes - 1;
        const int leaving = mine.position - step + (reducing ? 0 : nodes);  // its own result is the first to go round
        const Region coming = piece(part, leaving - 1);
        const Region aside = place(mine.local, coming);
        steps.receive(left, reducing ? aside : coming);
        steps.send(right, piece(part, leaving));
        if (reducing) steps.reduce(aside, coming);
    }

    void hand_out(const LanePlace& mine, std::int64_t segment, Steps& steps) const {
        for (int offset = 1; offset < mine.size; ++offset) {
            const int to = (mine.local + offset) % mine.size;
            const int from = (mine.local - offset + mine.size) % mine.size;
            if (from < lanes_.number) {
                steps.receive(lanes_.teams.rank_at(mine.node, from), part_in(Buffer::receive, segment, from));
            }
            if (mine.local < lanes_.number) {
                steps.send(lanes_.teams.rank_at(mine.node, to), part_in(Buffer::receive, segment, mine.local));
            }
        }
    }

    const Shape& shape_;
    Lanes lanes_;
    Segments segments_;
};

const Register entry{{
    .collective = "allreduce",
    .name = "full_lane",
    .source = kFullLaneSource,
    .cost = "2q(n − 1) α + 2 (n−1)/n βm, n nodes, q segments, m leaving a node",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {{"segment_bytes", 0, 0, "bytes of a segment; 0 sends the vector whole"}, kLanes},
    .aliases = {},
    .rounds = [](const Shape& shape) { return Allreduce(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { Allreduce(shape).round(rank, k, steps); },
    .scratch = [](const Shape& shape, int rank) { return Allreduce(shape).scratch(rank); },
    .claims = {.most_leaving_node = [](const Shape& shape) { return Allreduce(shape).most_leaving_node(); }},
}};

}  // namespace
}  // namespace timpani
