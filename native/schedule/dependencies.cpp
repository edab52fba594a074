#include "schedule/dependencies.hpp"

#include <algorithm>

namespace timpani {

namespace {

bool share_data(const Step& message, const Step& step) {
    if (message.kind == Step::Kind::send) return step.writes(message.from);
    return step.reads(message.to) || step.writes(message.to);
}

bool ordered_by_notification(const Step& message, const Step& step) {
    return (message.awaits() && (step.notifies() || step.touches_window())) ||
           (message.touches_window() && step.notifies());
}

}  // namespace

std::int64_t most_under_way(const Algorithm& algorithm, const CollectiveArguments& args) {
    if (algorithm.requests != nullptr) return algorithm.requests(args);
    // A rank exchanges at most four messages with each other one in a round, so that the oldest is of an earlier round
    // than those that wait for it, and no ranks can wait for each other in a circle.
    constexpr std::int64_t kOfAPipeline = 128;
    return 4 * std::int64_t{args.ranks} + kOfAPipeline;
}

std::span<const std::int64_t> DependencyTracker::add(const Step& step) {
    const auto number = taken_++;
    found_.clear();
    find(step, number);
    std::erase_if(found_, [this](std::int64_t other) { return !wait_for(other); });
    if (!step.is_message()) return found_;
    if (static_cast<std::int64_t>(under_way_.size()) >= most_under_way_) {
        found_.push_back(under_way_.front());
        wait_for(found_.back());
    }
    under_way_.add(number, step);
    awaited_ += step.awaits() ? 1 : 0;
    in_window_ += step.touches_window() ? 1 : 0;
    return found_;
}

void DependencyTracker::find(const Step& step, std::int64_t number) {
    if (under_way_.size() <= kFew / 2) index_.reset();
    if (index_ == nullptr && under_way_.size() <= kFew) {
        under_way_.for_each([&](std::int64_t other, const Step& message) {
            if (share_data(message, step) || ordered_by_notification(message, step)) found_.push_back(other);
        });
        return;
    }
    if (index_ == nullptr) {
        index_ = std::make_unique<RegionIndex>();
        under_way_.for_each([&](std::int64_t other, const Step& message) { index_->add(message, other, found_); });
        found_.clear();
    }
    index_->add(step, number, found_);
    if ((awaited_ > 0 && (step.notifies() || step.touches_window())) || (in_window_ > 0 && step.notifies())) {
        under_way_.for_each([&](std::int64_t other, const Step& message) {
            if (ordered_by_notification(message, step)) found_.push_back(other);
        });
    }
    std::ranges::sort(found_);
}

/// Whether it is under way; it no longer is then.
bool DependencyTracker::wait_for(std::int64_t number) {
    const auto message = under_way_.take(number);
    if (!message) return false;
    awaited_ -= message->awaits() ? 1 : 0;
    in_window_ -= message->touches_window() ? 1 : 0;
    return true;
}

}  // namespace timpani
