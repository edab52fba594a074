// Allreduce over two levels, composed of three collectives: a reduce to the leader of each node, an allreduce by
// recursive doubling among the leaders, and a broadcast from each leader. The vector is never divided: for short
// ones. The operator must commute.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/hierarchy.hpp"
#include "schedule/sub_collective.hpp"

namespace timpani::allreduce_two_level {
namespace {

class Composition {
  public:
    Composition(const CollectiveArguments& args, int rank)
        : args_(args),
          hierarchy_(args),
          node_(hierarchy_.topology().node_of(rank)),
          local_(hierarchy_.local_rank(rank)),
          reduce_(reduce_on(hierarchy_.ranks_on(node_))),
          allreduce_("allreduce", "recursive_doubling", args, hierarchy_.nodes(), args.count),
          bcast_(bcast_on(hierarchy_.ranks_on(node_))) {}

    /// Every node takes the rounds of the largest one.
    [[nodiscard]] std::int64_t rounds() const { return bcast_begins() + bcast_on(most_ranks()).rounds(); }

    void round(std::int64_t k, Steps& steps) const {
        const auto on_node = [this](int local) { return hierarchy_.rank_at(node_, local); };
        const auto leader = [this](int node) { return hierarchy_.leader(node); };
        const std::int64_t n = args_.count;
        // A leader's scratch begins with its node's sum; a rank alone on its node contributes its own vector.
        const SubCollective::BufferStart sum{Buffer::scratch, 0};
        const bool alone = hierarchy_.ranks_on(node_) == 1;
        if (k < allreduce_begins()) {
            if (!alone) reduce_.round(local_, k, {{{Buffer::send, 0}, sum, {Buffer::scratch, n}}}, on_node, steps);
        } else if (k < bcast_begins()) {
            const SubCollective::BufferStart own = alone ? SubCollective::BufferStart{Buffer::send, 0} : sum;
            const SubCollective::Buffers buffers{{own, {Buffer::receive, 0}, {Buffer::scratch, n}}};
            if (local_ == 0) allreduce_.round(node_, k - allreduce_begins(), buffers, leader, steps);
        } else {
            const SubCollective::BufferStart result{Buffer::receive, 0};
            bcast_.round(local_, k - bcast_begins(), {{result, result, {Buffer::scratch, 0}}}, on_node, steps);
        }
    }

    [[nodiscard]] std::int64_t scratch() const {
        return args_.count + std::max(reduce_.scratch(local_), local_ == 0 ? allreduce_.scratch(node_) : 0);
    }

  private:
    [[nodiscard]] SubCollective reduce_on(int ranks) const { return {"reduce", "binomial", args_, ranks, args_.count}; }
    [[nodiscard]] SubCollective bcast_on(int ranks) const { return {"bcast", "binomial", args_, ranks, args_.count}; }
    [[nodiscard]] int most_ranks() const { return hierarchy_.topology().most_ranks_on_a_node(); }
    [[nodiscard]] std::int64_t allreduce_begins() const { return reduce_on(most_ranks()).rounds(); }
    [[nodiscard]] std::int64_t bcast_begins() const { return allreduce_begins() + allreduce_.rounds(); }

    const CollectiveArguments& args_;
    Hierarchy hierarchy_;
    int node_;
    int local_;
    SubCollective reduce_;
    SubCollective allreduce_;
    SubCollective bcast_;
};

const Register entry{{
    .collective = "allreduce",
    .name = "two_level",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(⌈log₂ n⌉ + 2⌈log₂ p/n⌉) (α + βm) + (⌈log₂ n⌉ + ⌈log₂ p/n⌉) γm, n nodes",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {},
    .aliases = {"type_2"},
    .rounds = [](const CollectiveArguments& args) { return Composition(args, 0).rounds(); },
    .round = [](const CollectiveArguments& args, int rank, std::int64_t k,
                Steps& steps) { Composition(args, rank).round(k, steps); },
    .scratch = [](const CollectiveArguments& args, int rank) { return Composition(args, rank).scratch(); },
    .claims = {.most_leaving_node = [](const CollectiveArguments& args) -> std::int64_t {
        const int nodes = args.topology->nodes();
        return (floor_log2(nodes) + (is_power_of_two(nodes) ? 0 : 1)) * args.count;
    }},
}};

}  // namespace
}  // namespace timpani::allreduce_two_level
