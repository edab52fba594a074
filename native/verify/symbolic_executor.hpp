#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include "schedule/engine/engine.hpp"
#include "verify/affine.hpp"
#include "verify/window_order.hpp"

namespace timpani {

/// What a run finds wrong; thrown to the one place that answers.
struct Mistake : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Runs all ranks of one call in one process, on symbolic values in place of data, as find_mistake describes it: the
/// policy of an engine for which a message ends as soon as both sides have posted it.
class SymbolicExecutor {
  public:
    /// `schedule` need not be the algorithm's own; `order` is of all calls so far where the algorithm has a window,
    /// else nullptr.
    SymbolicExecutor(const Algorithm& algorithm, const CollectiveArguments& args, const Schedule& schedule,
                     WindowOrder* order);

    /// Both throw Mistake.
    void run();
    void check_results();

    // What an engine asks of its policy.
    static constexpr bool kAsksForWaited = true;  // who touches a window is ordered by what was waited for
    using Note = std::vector<bool>;  // in a barrier: ranks known to have entered it when the message was posted
    struct RankState {};
    void check(const Place& place, const Step& step);
    Note begin(const Place& place, std::int64_t round, const Step& step, std::span<const std::int64_t> waited);
    void meet(int number);
    void ready(int /*rank*/) {}

  private:
    struct Rank {
        std::array<std::vector<Affine>, kBuffers - 1> memory;  // its own
        std::vector<Affine>* window = nullptr;                 // its node's
        std::vector<bool> arrived;  // in a barrier: ranks known to have entered it, itself among them

        std::vector<Affine>& buffer(const Region& region) {
            return region.buffer == Buffer::window ? *window : memory[static_cast<std::size_t>(region.buffer)];
        }
    };

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    void compute(const Place& place, const Step& step);
    void check_order(const Place& place, const Step& step, std::span<const std::int64_t> waited);
    void check_all_arrived() const;
    void read(const Place& place, const Step& step, const Region& region);
    Affine expected_of(const Origin& origin, std::map<std::int64_t, std::vector<Affine>>& prefixes) const;

    CollectiveArguments args_;
    const Collective& collective_;
    WindowOrder* order_;
    std::vector<Rank> ranks_;
    std::vector<std::vector<Affine>> windows_;  // of each node
    Engine<SymbolicExecutor> engine_;
};

}  // namespace timpani
