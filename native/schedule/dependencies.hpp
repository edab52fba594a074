#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schedule/algorithm.hpp"
#include "schedule/numbered.hpp"
#include "schedule/region_index.hpp"

namespace timpani {

/// Most messages that a rank may have under way at once: as the algorithm says, or where it names no bound so many that
/// none waits but a pipeline of many segments.
std::int64_t most_under_way(const Algorithm& algorithm, const CollectiveArguments& args);

/// What each step of a rank, taken in order, must wait for: those messages under way with which it shares data, since
/// one of the two writes what the other reads or writes, and the oldest where there would be too many. Local steps are
/// over when the next begins, so nothing waits for them.
///
/// What other ranks do in the window is ordered by notifications: a step that touches the window waits for all that are
/// awaited before it, and a notification for those and for the messages to and from the window.
class DependencyTracker {
  public:
    explicit DependencyTracker(std::int64_t most_under_way) : most_under_way_(most_under_way) {}

    /// Takes `step`, which gets the next number, from 0 on. The numbers of the messages that it waits for;
    /// until the next call.
    std::span<const std::int64_t> add(const Step& step);
    /// What the last call answered.
    [[nodiscard]] std::span<const std::int64_t> found() const { return found_; }
    /// Messages that no step has waited for yet.
    [[nodiscard]] const Numbered<Step>& under_way() const { return under_way_; }

  private:
    /// So many messages are compared one by one; more are looked up in an index.
    static constexpr std::size_t kFew = 16;

    void find(const Step& step, std::int64_t number);
    bool wait_for(std::int64_t number);

    std::int64_t most_under_way_;
    std::int64_t taken_ = 0;
    Numbered<Step> under_way_;
    std::int64_t awaited_ = 0;            // notifications among them
    std::int64_t in_window_ = 0;          // messages to and from the window among them
    std::unique_ptr<RegionIndex> index_;  // while there are many
    std::vector<std::int64_t> found_;
};

}  // namespace timpani
