#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include "schedule/engine/engine.hpp"
#include "verify/window_order.hpp"

namespace timpani {

/// A mistake found by a run; caught where the result is reported.
struct Mistake : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Runs all ranks of one call in one process on symbolic values: on affine maps as find_mistake describes, or on sums
/// whose order is of interest. It is the policy of an engine in which a message ends as soon as both sides have posted
/// it.
template <typename Value>
class SymbolicExecutor {
  public:
    /// `schedule` may differ from the algorithm's own; `order` covers all calls so far if the algorithm has a window,
    /// else nullptr.
    SymbolicExecutor(const Algorithm& algorithm, const CollectiveArguments& args, const Schedule& schedule,
                     WindowOrder* order);

    /// Both throw Mistake.
    void run();
    void check_results();
    /// The receive buffer of a rank.
    [[nodiscard]] const std::vector<Value>& result(int rank) const {
        return ranks_[static_cast<std::size_t>(rank)].memory[1];
    }

    // Interface that the engine uses.
    static constexpr bool kListsWaited = true;  // accesses to a window are ordered by what was waited for
    using Note = std::vector<bool>;  // in a barrier: ranks known to have entered it when the message was posted
    struct RankState {};
    void check(const Place& place, const Step& step);
    Note begin(const Place& place, std::int64_t round, const Step& step, std::span<const std::int64_t> waited);
    void meet(int number);
    void ready(int /*rank*/) {}

  private:
    struct Rank {
        std::array<std::vector<Value>, kBuffers - 1> memory;  // its own
        std::vector<Value>* window = nullptr;                 // its node's
        std::vector<bool> arrived;  // in a barrier: ranks known to have entered it, including itself

        std::vector<Value>& buffer(const Region& region) {
            return region.buffer == Buffer::window ? *window : memory[static_cast<std::size_t>(region.buffer)];
        }
    };

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    void compute(const Place& place, const Step& step);
    void check_order(const Place& place, const Step& step, std::span<const std::int64_t> waited);
    void check_all_arrived() const;
    void read(const Place& place, const Step& step, const Region& region);
    Value expected_of(const Origin& origin, std::map<std::int64_t, std::vector<Value>>& prefixes) const;

    CollectiveArguments args_;
    const Collective& collective_;
    WindowOrder* order_;
    std::vector<Rank> ranks_;
    std::vector<std::vector<Value>> windows_;  // of each node
    Engine<SymbolicExecutor> engine_;
};

}  // namespace timpani
