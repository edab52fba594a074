#include "collectives/topology.hpp"
#include "schedule/algorithm.hpp"
#include "tests/check.hpp"
#include "verify/verify.hpp"

namespace timpani {
namespace {

constexpr std::size_t kRanks = 5;

/// The counts of `rank` alone, from those of all pairs.
std::vector<std::int64_t> of_one(const std::vector<std::int64_t>& all, std::size_t rank) {
    std::vector<std::int64_t> own;
    for (std::size_t receiver = 0; receiver < kRanks; ++receiver) own.push_back(all[rank * kRanks + receiver]);
    for (std::size_t sender = 0; sender < kRanks; ++sender) own.push_back(all[sender * kRanks + rank]);
    return own;
}

}  // namespace

TEST(an_alltoallv_that_passes_no_blocks_on_needs_none_but_its_ranks_own) {
    const std::vector<int> nodes{0, 1, 0, 1, 2};
    const Topology topology(nodes, nodes);
    std::vector<std::int64_t> counts(kRanks * kRanks);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<std::int64_t>(i * 7 % 11);
    int seen = 0;
    for (const Algorithm* algorithm : algorithms()) {
        if (algorithm->collective != "alltoallv" || algorithm->scratch != nullptr) continue;
        CollectiveArguments args{
            .ranks = static_cast<int>(kRanks), .count = 0, .root = 0, .counts = counts, .topology = &topology};
        for (std::size_t i = 0; i < algorithm->parameters.size(); ++i) {
            args.parameters[i] = algorithm->parameters[i].default_value;
        }
        for (std::size_t rank = 0; rank < kRanks; ++rank) {
            const auto here = static_cast<int>(rank);
            CollectiveArguments alone = args;
            const auto own = of_one(counts, rank);
            alone.counts = own;
            alone.known_rank = here;
            CHECK(steps_of(*algorithm, alone, here) == steps_of(*algorithm, args, here));
        }
        ++seen;
    }
    CHECK(seen >= 3);
}

}  // namespace timpani
