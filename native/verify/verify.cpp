#include "verify/verify.hpp"

#include "verify/symbolic_executor.hpp"
#include "verify/window_order.hpp"

namespace timpani {

std::vector<Step> steps_of(const Algorithm& algorithm, const CollectiveArguments& args, int rank) {
    Steps steps;
    const auto rounds = algorithm.rounds(args);
    for (std::int64_t round = 0; round < rounds; ++round) algorithm.round(args, rank, round, steps);
    return steps.all();
}

std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args,
                                        const std::vector<std::vector<Step>>& steps) {
    try {
        std::optional<WindowOrder> order;
        if (algorithm.window != nullptr) order.emplace(args.ranks);
        for (int call = 0; call < (order ? 2 : 1); ++call) {
            SymbolicExecutor executor(algorithm, args, steps, order ? &*order : nullptr);
            executor.run();
            executor.check_results();
            if (order) order->end_call();
        }
    } catch (const Mistake& mistake) {
        return mistake.what();
    }
    return std::nullopt;
}

std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args) {
    std::vector<std::vector<Step>> steps;
    for (int rank = 0; rank < args.ranks; ++rank) steps.push_back(steps_of(algorithm, args, rank));
    return find_mistake(algorithm, args, steps);
}

}  // namespace timpani
