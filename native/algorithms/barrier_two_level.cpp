// Barrier over two levels: the ranks of each node notify their leader, the leaders run a barrier by dissemination,
// and each leader releases its ranks.

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/hierarchy.hpp"

namespace timpani::barrier_two_level {
namespace {

int dissemination_rounds(const CollectiveArguments& args) { return ceil_log2(args.topology->nodes()); }

void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {
    const Hierarchy hierarchy(args);
    const int node = hierarchy.topology().node_of(rank);
    const bool leads = hierarchy.leader(node) == rank;
    const int last = dissemination_rounds(args) + 1;
    if (k == 0 || k == last) {
        const bool arriving = k == 0;
        if (!leads && arriving) steps.notify(hierarchy.leader(node));
        if (!leads && !arriving) steps.await(hierarchy.leader(node));
        for (int place = 1; leads && place < hierarchy.ranks_on(node); ++place) {
            if (arriving) steps.await(hierarchy.rank_at(node, place));
            if (!arriving) steps.notify(hierarchy.rank_at(node, place));
        }
    } else if (leads) {
        const int distance = 1 << (k - 1);
        steps.notify(hierarchy.leader((node + distance) % hierarchy.nodes()));
        steps.await(hierarchy.leader((node - distance + hierarchy.nodes()) % hierarchy.nodes()));
    }
}

const Register entry{{
    .collective = "barrier",
    .name = "two_level",
    .source = "Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, IPDPS 2000",
    .cost = "(⌈log₂ n⌉ + 2) α, n nodes",
    .restrictions = {.topology = true},
    .rounds = [](const CollectiveArguments& args) -> std::int64_t { return dissemination_rounds(args) + 2; },
    .round = round,
    .claims = {.max_leaving_node = always<0>},
}};

}  // namespace
}  // namespace timpani::barrier_two_level
