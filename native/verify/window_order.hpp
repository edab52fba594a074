#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "schedule/step.hpp"

namespace timpani {

/// Whether messages order all that ranks do in memory that they share, however fast each of them is. Each rank has a
/// vector clock (Fidge, ACSC 1988; Mattern, 1989): an access is ordered behind another rank's if a chain of
/// notifications leads here that began when the other access had ended. One of a message ends when a later step has
/// waited for it.
///
/// Lasts over several calls, so that one is known to leave the window alone while a rank is still in the call before.
class WindowOrder {
  public:
    explicit WindowOrder(int ranks);

    /// `rank` begins its next step, having waited for the steps with the numbers `waited`.
    void begin(int rank, const Step& step, std::span<const std::int64_t> waited);
    /// The message of those two steps has gone over.
    void deliver(int sender, std::int64_t send, int receiver, std::int64_t receive);
    /// The step that `rank` began last touches `region` of the window of `node`. Another rank whose access it is not
    /// ordered behind, or nothing.
    std::optional<int> touch(int rank, int node, const Region& region, bool write);
    /// All ranks have ended all their steps and begin to count them anew.
    void end_call();

  private:
    using Clock = std::vector<std::int64_t>;  // per rank: how many of its steps are known to have been begun

    struct Known {
        Clock clock;
        std::int64_t before = 0;  // steps in the calls before
        std::vector<std::int64_t>
            end_of;  // per step of all calls: its end on the rank's own clock, kUnderWay until then
        std::map<std::int64_t, Clock> told;  // by a notification's step: sent, or received and not waited for
    };
    struct Access {
        int rank;
        std::int64_t step;
    };
    struct History {
        std::optional<Access> written;
        std::vector<Access> read;  // since
    };

    static constexpr std::int64_t kUnderWay = INT64_MAX;

    Known& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    void end(Known& known, int rank, std::int64_t step);
    [[nodiscard]] bool behind(int rank, const Access& other);

    std::vector<Known> ranks_;
    std::map<std::pair<int, std::int64_t>, History> elements_;  // by node and place
};

}  // namespace timpani
