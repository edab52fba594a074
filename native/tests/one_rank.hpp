#pragma once

#include <cstdint>
#include <vector>

#include "schedule/engine/dependencies.hpp"

namespace timpani {

/// The messages that one rank has under way.
class OneRank {
  public:
    explicit OneRank(std::int64_t max_messages_under_way) : max_under_way_(max_messages_under_way) {}

    /// The numbers of the messages that the next step waits for. `met`: if it is a message, whether its other side is
    /// posted.
    std::vector<std::int64_t> take(const Step& step, bool met = true) {
        std::vector<std::int64_t> waited;
        tracker_.find(pool_, step, taken_, max_under_way_);
        tracker_.remove_waited(pool_, [&](const auto& message) { waited.push_back(message.number); });
        if (step.is_message()) {
            tracker_.add(pool_, pool_.add({step, {0, taken_}, 0, 0, met}));
        }
        ++taken_;
        return waited;
    }
    /// The number of the message that matches, or −1.
    std::int64_t meet(Step::Kind kind, int peer) {
        const int id = tracker_.meet(pool_, kind, peer);
        return id < 0 ? -1 : pool_[id].number;
    }
    [[nodiscard]] int under_way() const { return tracker_.size(pool_); }

  private:
    std::int64_t max_under_way_;
    std::int64_t taken_ = 0;
    TrackedMessages<int> pool_;
    DependencyTracker<int> tracker_;
};

}  // namespace timpani
