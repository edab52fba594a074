#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "schedule/algorithm.hpp"
#include "schedule/hazards.hpp"

namespace timpani {

/// What each step of a rank, taken in order, depends on and so must wait for: the earlier steps with which it shares
/// data (HazardTracker), and the oldest message under way where the algorithm bounds how many there may be.
class DependencyTracker {
  public:
    DependencyTracker() = default;
    DependencyTracker(const Algorithm& algorithm, const CollectiveArguments& args)
        : most_under_way_(algorithm.requests == nullptr ? most_messages(args) : algorithm.requests(args)) {}

    /// The numbers of those steps, each once; and takes `step`, which gets the next number.
    std::vector<std::int64_t> add(const Step& step) {
        const auto number = taken_++;
        auto found = hazards_.add(step, number);
        for (const auto waited : found) {  // ascending, as messages are taken
            const auto at = std::ranges::lower_bound(under_way_, waited);
            if (at != under_way_.end() && *at == waited) under_way_.erase(at);
        }
        if (!step.is_message()) return found;
        if (most_under_way_ > 0 && static_cast<std::int64_t>(under_way_.size()) >= most_under_way_) {
            found.push_back(under_way_.front());
            under_way_.pop_front();
        }
        under_way_.push_back(number);
        return found;
    }

    /// Messages that no step has waited for yet, oldest first.
    [[nodiscard]] const std::deque<std::int64_t>& under_way() const { return under_way_; }

  private:
    /// Where an algorithm names no bound: so many that none waits but a pipeline of many segments, whose messages would
    /// all be under way at once. A rank exchanges at most four messages with each other one in a round, so that the
    /// oldest is of an earlier round than those that wait for it, and no ranks can wait for each other in a circle.
    static std::int64_t most_messages(const CollectiveArguments& args) {
        constexpr std::int64_t kOfAPipeline = 128;
        return 4 * std::int64_t{args.ranks} + kOfAPipeline;
    }

    std::int64_t most_under_way_ = 0;  // 0 for no bound
    std::int64_t taken_ = 0;
    HazardTracker hazards_;
    std::deque<std::int64_t> under_way_;
};

}  // namespace timpani
