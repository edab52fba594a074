#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "schedule/step.hpp"

namespace timpani {

/// Finds data races in memory that the ranks of a node share: accesses that notifications don't order. Each rank has a
/// vector clock (Fidge, ACSC 1988; Mattern, 1989): another rank's access happened before this one if a chain of
/// notifications that began after its end leads here. The access of a message ends when a later step has waited for the
/// message.
///
/// It spans several calls, to check that a call doesn't access the window while a rank is still in the previous call.
class WindowOrder {
  public:
    explicit WindowOrder(int ranks);

    /// `rank` begins its next step after waiting for the steps numbered `waited`.
    void begin(int rank, const Step& step, std::span<const std::int64_t> waited);
    /// The message of these two steps has been delivered.
    void deliver(int sender, std::int64_t send, int receiver, std::int64_t receive);
    /// The last step that `rank` began accesses `region` of the window of `node`. Returns a rank whose access races
    /// with it, or nothing.
    std::optional<int> touch(int rank, int node, const Region& region, bool write);
    /// All ranks have ended all steps; numbering restarts.
    void end_call();

  private:
    using Clock = std::vector<std::int64_t>;  // per rank: number of its steps known to have started

    struct RankState {
        Clock clock;
        std::int64_t steps_before = 0;  // in earlier calls
        // Per step of all calls: its end on the rank's own clock, kUnderWay until then.
        std::vector<std::int64_t> end_of;
        // Clocks that notifications carry, by step: those sent, and those received but not yet waited for.
        std::map<std::int64_t, Clock> carried;
    };
    struct Access {
        int rank;
        std::int64_t step;
    };
    struct History {
        std::optional<Access> written;
        std::vector<Access> read;  // since the last write
    };

    static constexpr std::int64_t kUnderWay = INT64_MAX;

    RankState& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    void end(RankState& state, int rank, std::int64_t step);
    [[nodiscard]] bool happened_before(const Access& other, int rank);

    std::vector<RankState> ranks_;
    std::map<std::pair<int, std::int64_t>, History> elements_;  // by node and place
};

}  // namespace timpani
