#include "measure/clock/lateness.hpp"

#include <algorithm>

namespace timpani {

namespace {

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): a hash of a counter, so that all ranks draw the same numbers in any
/// order.
std::uint64_t mix(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
}

}  // namespace

InjectedLateness::InjectedLateness(const ArrivalPattern& pattern, std::int64_t delay_ns, int ranks, std::uint64_t seed)
    : seed_(seed) {
    if (pattern.kind == ArrivalKind::together) return;
    mean_ns_.assign(static_cast<std::size_t>(ranks), 0);
    switch (pattern.kind) {
        case ArrivalKind::one_late:
            mean_ns_.back() = delay_ns;
            break;
        case ArrivalKind::sorted:
            for (int rank = 1; rank < ranks; ++rank) {
                mean_ns_[static_cast<std::size_t>(rank)] = delay_ns * rank / (ranks - 1);
            }
            break;
        case ArrivalKind::random:
            random_ns_ = std::max<std::int64_t>(1, delay_ns);
            std::ranges::fill(mean_ns_, delay_ns / 2);
            break;
        default:
            break;
    }
}

std::int64_t InjectedLateness::of(int rank, std::int64_t repetition) const {
    if (random_ns_ == 0) return mean_ns_[static_cast<std::size_t>(rank)];
    const auto number = static_cast<std::uint64_t>(repetition) * mean_ns_.size() + static_cast<std::uint64_t>(rank);
    return static_cast<std::int64_t>(mix(mix(seed_) ^ number) % static_cast<std::uint64_t>(random_ns_ + 1));
}

std::int64_t InjectedLateness::largest_ns() const { return random_ns_ > 0 ? random_ns_ : std::ranges::max(mean_ns_); }

std::int64_t InjectedLateness::count(int repetitions) {
    const auto first = counted_;
    counted_ += repetitions;
    return first;
}

}  // namespace timpani
