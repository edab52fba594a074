#include "schedule/engine/dependencies.hpp"

namespace timpani {

std::int64_t max_messages_under_way(const Algorithm& algorithm, const CollectiveArguments& args) {
    if (algorithm.requests != nullptr) return algorithm.requests(args);
    // A rank exchanges at most four messages with each other one in a round, so that the oldest is of an earlier round
    // than those that wait for it, and no ranks can wait for each other in a circle.
    constexpr std::int64_t kOfAPipeline = 128;
    return 4 * std::int64_t{args.ranks} + kOfAPipeline;
}

}  // namespace timpani
