#include "schedule/engine/dependencies.hpp"

namespace timpani {

std::int64_t max_messages_under_way(const Algorithm& algorithm, const CollectiveArguments& args) {
    if (algorithm.requests != nullptr) return algorithm.requests(args);
    // A rank exchanges at most four messages with each other rank in a round. So the oldest message belongs to an
    // earlier round than the steps that wait for it, and ranks can't wait for each other in a cycle.
    constexpr std::int64_t kPipelineMessages = 128;
    return 4 * std::int64_t{args.ranks} + kPipelineMessages;
}

}  // namespace timpani
