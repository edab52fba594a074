// Allreduce over two levels, composed of three algorithms: a reduce to the leader of each node, an allreduce among the
// leaders, and a broadcast by each leader. The vector is never cut: for short ones. The operator must commute.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/hierarchy.hpp"
#include "schedule/sub_collective.hpp"

namespace timpani::allreduce_two_level {
namespace {

class Composition {
  public:
    Composition(const Shape& shape, int rank)
        : shape_(shape),
          hierarchy_(shape),
          node_(hierarchy_.topology().node_of(rank)),
          place_(hierarchy_.local_rank(rank)),
          up_("reduce", "binomial", team(hierarchy_.ranks_on(node_))),
          across_("allreduce", "recursive_doubling", team(hierarchy_.nodes())),
          down_("bcast", "binomial", team(hierarchy_.ranks_on(node_))) {}

    [[nodiscard]] std::int64_t rounds() const {
        return SubCollective("reduce", "binomial", largest()).rounds() + across_.rounds() +
               SubCollective("bcast", "binomial", largest()).rounds();
    }

    void round(std::int64_t k, Steps& steps) const {
        const auto on_node = [this](int place) { return hierarchy_.rank_at(node_, place); };
        const auto leader = [this](int position) { return hierarchy_.leader(position); };
        const std::int64_t n = shape_.count;
        // The node's sum is at the front of the leader's scratch; a leader alone contributes its own vector.
        const SubCollective::BufferStart sum{Buffer::scratch, 0};
        const bool alone = hierarchy_.ranks_on(node_) == 1;
        const std::int64_t across_begins = SubCollective("reduce", "binomial", largest()).rounds();
        const std::int64_t down_begins = across_begins + across_.rounds();
        if (k < across_begins) {
            if (!alone) up_.round(place_, k, {{{Buffer::send, 0}, sum, {Buffer::scratch, n}}}, on_node, steps);
        } else if (k < down_begins) {
            const SubCollective::BufferStart own = alone ? SubCollective::BufferStart{Buffer::send, 0} : sum;
            const SubCollective::Buffers buffers{{own, {Buffer::receive, 0}, {Buffer::scratch, n}}};
            if (place_ == 0) across_.round(node_, k - across_begins, buffers, leader, steps);
        } else {
            const SubCollective::BufferStart result{Buffer::receive, 0};
            down_.round(place_, k - down_begins, {{result, result, {Buffer::scratch, 0}}}, on_node, steps);
        }
    }

    [[nodiscard]] std::int64_t scratch() const {
        return shape_.count + std::max(up_.scratch(place_), place_ == 0 ? across_.scratch(node_) : 0);
    }

  private:
    /// Every node takes the rounds of the largest one.
    [[nodiscard]] Shape largest() const { return team(hierarchy_.topology().most_ranks_on_a_node()); }
    [[nodiscard]] Shape team(int size) const {
        Shape inside = shape_;
        inside.ranks = size;
        inside.root = 0;
        inside.topology = nullptr;
        return inside;
    }

    const Shape& shape_;
    Hierarchy hierarchy_;
    int node_;
    int place_;
    SubCollective up_;
    SubCollective across_;
    SubCollective down_;
};

const Register entry{{
    .collective = "allreduce",
    .name = "two_level",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(⌈log₂ n⌉ + 2⌈log₂ p/n⌉) (α + βm) + (⌈log₂ n⌉ + ⌈log₂ p/n⌉) γm, n nodes",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {},
    .aliases = {"type_2"},
    .rounds = [](const Shape& shape) { return Composition(shape, 0).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k,
                Steps& steps) { Composition(shape, rank).round(k, steps); },
    .scratch = [](const Shape& shape, int rank) { return Composition(shape, rank).scratch(); },
    .claims = {.most_leaving_node = [](const Shape& shape) -> std::int64_t {
        const int nodes = shape.topology->nodes();
        return (floor_log2(nodes) + (is_power_of_two(nodes) ? 0 : 1)) * shape.count;
    }},
}};

}  // namespace
}  // namespace timpani::allreduce_two_level
