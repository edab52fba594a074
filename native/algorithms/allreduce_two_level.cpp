// Allreduce over two levels, composed of three collectives: a reduce to the leader of each node, an allreduce by
// recursive doubling among the leaders, and a broadcast from each leader. It never divides the vector, so it suits
// short ones. The operator must commute.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/hierarchy.hpp"
#include "schedule/sub_collective.hpp"

namespace timpani::allreduce_two_level {
namespace {

class Composition {
  public:
    explicit Composition(const CollectiveArguments& args)
        : args_(args),
          hierarchy_(args),
          allreduce_(inner_algorithm("allreduce", "recursive_doubling"), args, hierarchy_.nodes(), args.count),
          allreduce_begins_(reduce_on(hierarchy_.topology().max_ranks_per_node()).rounds()),
          bcast_begins_(allreduce_begins_ + allreduce_.rounds()) {}

    /// Every node takes the rounds of the largest node.
    [[nodiscard]] std::int64_t rounds() const {
        return bcast_begins_ + bcast_on(hierarchy_.topology().max_ranks_per_node()).rounds();
    }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const int node = hierarchy_.topology().node_of(rank);
        const int local = hierarchy_.local_rank(rank);
        const int size = hierarchy_.ranks_on(node);
        const auto on_node = [&](int place) { return hierarchy_.rank_at(node, place); };
        const auto leader = [this](int of) { return hierarchy_.leader(of); };
        const std::int64_t n = args_.count;
        // A leader's scratch starts with its node's sum. A rank that is alone on its node contributes its own vector.
        const Region sum{Buffer::scratch, 0, n};
        const bool alone = size == 1;
        if (k < allreduce_begins_) {
            const SubCollective::Buffers buffers{{{Buffer::send, 0}, sum, {Buffer::scratch, n}}};
            if (!alone) reduce_on(size).round(local, k, buffers, on_node, steps);
        } else if (k < bcast_begins_) {
            const Region own = alone ? Region{Buffer::send, 0, n} : sum;
            const SubCollective::Buffers buffers{{own, {Buffer::receive, 0}, {Buffer::scratch, n}}};
            if (local == 0) allreduce_.round(node, k - allreduce_begins_, buffers, leader, steps);
        } else {
            const Region result{Buffer::receive, 0, n};
            const SubCollective::Buffers buffers{{result, result, {Buffer::scratch, 0}}};
            bcast_on(size).round(local, k - bcast_begins_, buffers, on_node, steps);
        }
    }

    [[nodiscard]] std::int64_t scratch(int rank) const {
        const int node = hierarchy_.topology().node_of(rank);
        const int local = hierarchy_.local_rank(rank);
        const std::int64_t of_reduce = reduce_on(hierarchy_.ranks_on(node)).scratch(local);
        return args_.count + std::max(of_reduce, local == 0 ? allreduce_.scratch(node) : 0);
    }

  private:
    [[nodiscard]] SubCollective reduce_on(int ranks) const { return {reduce_, args_, ranks, args_.count}; }
    [[nodiscard]] SubCollective bcast_on(int ranks) const { return {bcast_, args_, ranks, args_.count}; }

    const CollectiveArguments& args_;
    const Algorithm& reduce_ = inner_algorithm("reduce", "binomial");
    const Algorithm& bcast_ = inner_algorithm("bcast", "binomial");
    Hierarchy hierarchy_;
    SubCollective allreduce_;
    std::int64_t allreduce_begins_;
    std::int64_t bcast_begins_;
};

const Register entry{{
    .collective = "allreduce",
    .name = "two_level",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(⌈log₂ n⌉ + 2⌈log₂ p/n⌉) (α + βm) + (⌈log₂ n⌉ + ⌈log₂ p/n⌉) γm, n nodes",
    .restrictions = {.commutative = true, .topology = true},
    .aliases = {"type_2"},
    .prepare = prepared<Composition>,
    .scratch = [](const CollectiveArguments& args, int rank) { return Composition(args).scratch(rank); },
    .claims = {.max_leaving_node = [](const CollectiveArguments& args) -> std::int64_t {
        const int nodes = args.topology->nodes();
        return (floor_log2(nodes) + (is_power_of_two(nodes) ? 0 : 1)) * args.count;
    }},
}};

}  // namespace
}  // namespace timpani::allreduce_two_level
