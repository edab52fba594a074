#include "verify/verify.hpp"

#include <algorithm>

#include "verify/affine.hpp"
#include "verify/summands.hpp"
#include "verify/symbolic_executor.hpp"
#include "verify/window_order.hpp"

namespace timpani {

namespace {

/// Given steps, all in one round.
class GivenSteps final : public Schedule {
  public:
    explicit GivenSteps(const std::vector<std::vector<Step>>& steps) : steps_(steps) {}

    [[nodiscard]] std::int64_t rounds() const override { return 1; }
    void round(int rank, std::int64_t /*k*/, Steps& steps) const override {
        for (const Step& step : steps_[static_cast<std::size_t>(rank)]) steps.add(step);
    }

  private:
    const std::vector<std::vector<Step>>& steps_;
};

std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args,
                                        const Schedule& schedule) {
    try {
        std::optional<WindowOrder> order;
        if (algorithm.window != nullptr) order.emplace(args.ranks);
        for (int call = 0; call < (order ? 2 : 1); ++call) {
            SymbolicExecutor<Affine> executor(algorithm, args, schedule, order ? &*order : nullptr);
            executor.run();
            executor.check_results();
            if (order) order->end_call();
        }
    } catch (const Mistake& mistake) {
        return mistake.what();
    }
    return std::nullopt;
}

}  // namespace

std::vector<Step> steps_of(const Algorithm& algorithm, const CollectiveArguments& args, int rank) {
    Steps steps;
    const auto schedule = prepare(algorithm, args);
    for (std::int64_t k = 0; k < schedule->rounds(); ++k) schedule->round(rank, k, steps);
    return {steps.all().begin(), steps.all().end()};
}

std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args,
                                        const std::vector<std::vector<Step>>& steps) {
    return find_mistake(algorithm, args, GivenSteps(steps));
}

std::vector<std::vector<std::string>> orders_of(const Algorithm& algorithm, const CollectiveArguments& args) {
    const auto schedule = prepare(algorithm, args);
    SymbolicExecutor<Summands> executor(algorithm, args, *schedule, nullptr);
    executor.run();
    std::vector<std::vector<std::string>> orders(static_cast<std::size_t>(args.ranks));
    for (int rank = 0; rank < args.ranks; ++rank) {
        auto& own = orders[static_cast<std::size_t>(rank)];
        for (const Summands& each : executor.result(rank)) {
            if (each.written() && std::ranges::find(own, each.order) == own.end()) own.push_back(each.order);
        }
    }
    return orders;
}

std::optional<std::string> find_mistake(const Algorithm& algorithm, const CollectiveArguments& args) {
    return find_mistake(algorithm, args, *prepare(algorithm, args));
}

}  // namespace timpani
