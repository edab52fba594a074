// Allgather over lanes: the ranks of a node give each other their blocks; the blocks of a node go round a ring of all
// nodes, each lane taking those of its ranks along, and on every node what a lane brings goes to the other ranks there.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/blocks.hpp"
#include "schedule/lanes.hpp"

namespace timpani::allgather_full_lane {
namespace {

class Allgather {
  public:
    explicit Allgather(const Shape& shape) : shape_(shape), lanes_(shape, shape.parameters[0]) {}

    [[nodiscard]] std::int64_t rounds() const { return lanes_.hierarchy.nodes() + 1; }

    /// Round 0 inside nodes; in each of the others the blocks of one more node come in by the ring, and those that came
    /// in the round before are passed on.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const LanePlace mine(lanes_, rank);
        const Region own = block(rank);
        if (k == 0) {
            const Region contributed{Buffer::send, 0, own.count};
            for (int i = 1; i < mine.size; ++i) {
                const int from = on_node(mine, mine.local - i);
                steps.receive(from, block(from));
                steps.send(on_node(mine, mine.local + i), contributed);
            }
            steps.copy(contributed, own);
            return;
        }
        const int nodes = lanes_.hierarchy.nodes();
        const auto step = static_cast<int>(k);
        const int came = at(mine.position - (step - 1));  // one's own in the first
        if (step < nodes && mine.local < lanes_.number) {
            const int coming = at(mine.position - step);
            for_lane(coming, mine.local,
                     [&](const Region& each) { steps.receive(lanes_.at(mine.position - 1, mine.local), each); });
            for_lane(came, mine.local,
                     [&](const Region& each) { steps.send(lanes_.at(mine.position + 1, mine.local), each); });
        }
        if (step == 1) return;
        for (int i = 1; i < mine.size; ++i) {
            const int from = (mine.local - i + mine.size) % mine.size;
            if (from < lanes_.number) {
                for_lane(came, from, [&](const Region& each) { steps.receive(on_node(mine, from), each); });
            }
            if (mine.local < lanes_.number) {
                for_lane(came, mine.local,
                         [&](const Region& each) { steps.send(on_node(mine, mine.local + i), each); });
            }
        }
    }

    /// All blocks but those of the next node, in whose ring they end.
    [[nodiscard]] std::int64_t most_leaving_node() const {
        const int nodes = lanes_.hierarchy.nodes();
        int fewest = shape_.ranks;
        for (int node = 0; node < nodes; ++node) fewest = std::min(fewest, lanes_.hierarchy.ranks_on(node));
        return (shape_.ranks - fewest) * shape_.count;
    }

  private:
    [[nodiscard]] Region block(int rank) const { return region(Buffer::receive, block_of(shape_, rank)); }
    [[nodiscard]] int on_node(const LanePlace& mine, int place) const {
        return lanes_.hierarchy.rank_at(mine.node, (place + mine.size) % mine.size);
    }
    [[nodiscard]] int at(int position) const {
        const int nodes = lanes_.hierarchy.nodes();
        return lanes_.hierarchy.node_at_position((position + nodes) % nodes);
    }
    template <typename Visit>
    void for_lane(int node, int lane, const Visit& visit) const {
        for (int place = lane; place < lanes_.hierarchy.ranks_on(node); place += lanes_.number) {
            visit(block(lanes_.hierarchy.rank_at(node, place)));
        }
    }

    const Shape& shape_;
    Lanes lanes_;
};

Algorithm full_lane(std::string_view collective) {
    return {
        .collective = collective,
        .name = "full_lane",
        .source = kFullLaneSource,
        .cost = "(n − 1) α + (n−1)/n βm, n nodes, m in all",
        .restrictions = {.topology = true},
        .parameters = {kLanes},
        .aliases = {},
        .rounds = [](const Shape& shape) { return Allgather(shape).rounds(); },
        .round = [](const Shape& shape, int rank, std::int64_t k,
                    Steps& steps) { Allgather(shape).round(rank, k, steps); },
        .claims = {.most_leaving_node = [](const Shape& shape) { return Allgather(shape).most_leaving_node(); }},
    };
}

const Register allgather{full_lane("allgather")};
const Register allgatherv{full_lane("allgatherv")};

}  // namespace
}  // namespace timpani::allgather_full_lane
