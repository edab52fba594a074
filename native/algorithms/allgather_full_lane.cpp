// Allgather in lanes (schedule/patterns/lanes.hpp), for nodes with several ranks: an allgather inside each node, then a
// ring of all nodes. In each round of the ring the blocks of one more node arrive. Each lane's rank receives its share
// of them and sends it to the other ranks of its node in the next round.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/lanes.hpp"

namespace timpani::allgather_full_lane {
namespace {

class Allgather {
  public:
    explicit Allgather(const CollectiveArguments& args) : args_(args), lanes_(args, args.parameters[0]) {}

    [[nodiscard]] std::int64_t rounds() const { return lanes_.hierarchy.nodes() + 1; }

    /// Round 0 is the allgather inside nodes. In each later round the ring brings the blocks of one more node, while
    /// the blocks of the round before move to the next node and to the other ranks of this node.
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
        const int last = node_at(mine.position - (step - 1));  // the rank's own node in round 1
        if (step < nodes && mine.local < lanes_.number) {
            const int next = node_at(mine.position - step);
            for_blocks_of_lane(next, mine.local, [&](const Region& each) {
                steps.receive(lanes_.rank_at(mine.position - 1, mine.local), each);
            });
            for_blocks_of_lane(last, mine.local, [&](const Region& each) {
                steps.send(lanes_.rank_at(mine.position + 1, mine.local), each);
            });
        }
        if (step == 1) return;
        for (int i = 1; i < mine.size; ++i) {
            const int from = (mine.local - i + mine.size) % mine.size;
            if (from < lanes_.number) {
                for_blocks_of_lane(last, from, [&](const Region& each) { steps.receive(on_node(mine, from), each); });
            }
            if (mine.local < lanes_.number) {
                for_blocks_of_lane(last, mine.local,
                                   [&](const Region& each) { steps.send(on_node(mine, mine.local + i), each); });
            }
        }
    }

    /// All blocks except those of the next node on the ring.
    [[nodiscard]] std::int64_t max_leaving_node() const {
        const int nodes = lanes_.hierarchy.nodes();
        int minimum = args_.ranks;
        for (int node = 0; node < nodes; ++node) minimum = std::min(minimum, lanes_.hierarchy.ranks_on(node));
        return (args_.ranks - minimum) * args_.count;
    }

  private:
    [[nodiscard]] Region block(int rank) const { return region(Buffer::receive, block_of(args_, rank)); }
    [[nodiscard]] int on_node(const LanePlace& mine, int local) const {
        return lanes_.hierarchy.rank_at(mine.node, (local + mine.size) % mine.size);
    }
    [[nodiscard]] int node_at(int position) const {
        const int nodes = lanes_.hierarchy.nodes();
        return lanes_.hierarchy.node_at_position((position + nodes) % nodes);
    }
    /// Calls `visit` with each block of `node` that the lane carries.
    template <typename Visit>
    void for_blocks_of_lane(int node, int lane, const Visit& visit) const {
        for (int local = lane; local < lanes_.hierarchy.ranks_on(node); local += lanes_.number) {
            visit(block(lanes_.hierarchy.rank_at(node, local)));
        }
    }

    const CollectiveArguments& args_;
    Lanes lanes_;
};

const RegisterWithV entry{{
    .collective = "allgather",
    .name = "full_lane",
    .source = kFullLaneSource,
    .cost = "(n − 1) α + (n−1)/n βm, n nodes, m in all",
    .restrictions = {.topology = true},
    .parameters = {kLanes},
    .prepare = prepared<Allgather>,
    .claims = {.max_leaving_node = [](const CollectiveArguments& args) { return Allgather(args).max_leaving_node(); }},
}};

}  // namespace
}  // namespace timpani::allgather_full_lane
