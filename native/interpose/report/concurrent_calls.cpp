#include "interpose/report/concurrent_calls.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "interpose/profile/coordinated_sample.hpp"

namespace timpani {

namespace {

double running_ns(const RunningCalls& stratum) {
    double ns = 0;
    for (const RunningCall& call : stratum.calls) ns += static_cast<double>(call.end_ns - call.begin_ns);
    return ns / stratum.probability;
}

/// The Horvitz–Thompson estimate of a sum over pairs of calls, of which only pairs of kept calls are known. A hash of
/// its number decides whether a call is kept, in all strata. So two calls of one number are kept or dropped together,
/// as far as their strata keep the same share, and all others independently.
class PairSum {
  public:
    PairSum(double one, double other) : one_(one), other_(other) {}

    void add(std::uint64_t one, std::uint64_t other, double ns) {
        ++pairs_;
        const bool together = one == other;
        const double weighted = ns / (together ? std::min(one_, other_) : one_ * other_);
        total_ += weighted;
        count(one, one_, weighted);
        if (together) {
            count(one, other_, 0);
        } else {
            count(other, other_, weighted);
        }
    }

    [[nodiscard]] std::int64_t pairs() const { return pairs_; }
    [[nodiscard]] double total() const { return total_; }
    /// At least the Horvitz–Thompson estimate of the variance: pairs without a common number contribute their own
    /// variance twice at most, once for each number.
    [[nodiscard]] double variance() const {
        double variance = 0;
        for (const auto& [number, part] : by_number_) variance += (1 - part.probability) * part.ns * part.ns;
        return variance;
    }

  private:
    struct Part {
        double ns = 0;
        double probability = 1;
    };
    void count(std::uint64_t number, double probability, double ns) {
        Part& part = by_number_[number];
        part.ns += ns;
        part.probability = std::min(part.probability, probability);
    }

    double one_;
    double other_;
    std::int64_t pairs_ = 0;
    double total_ = 0;
    std::unordered_map<std::uint64_t, Part> by_number_;
};

Concurrency compare(const RunningCalls& one, const RunningCalls& other) {
    PairSum sum(one.probability, other.probability);
    auto first = other.calls.begin();
    for (const RunningCall& call : one.calls) {
        while (first != other.calls.end() && first->end_ns <= call.begin_ns) ++first;
        for (auto each = first; each != other.calls.end() && each->begin_ns < call.end_ns; ++each) {
            const std::int64_t ns = std::min(call.end_ns, each->end_ns) - std::max(call.begin_ns, each->begin_ns);
            if (ns > 0) sum.add(call.number, each->number, static_cast<double>(ns));
        }
    }
    return {one.id, other.id, sum.pairs(), sum.total(), kNormal95 * std::sqrt(sum.variance())};
}

}  // namespace

void ConcurrentCalls::add(RunningCalls stratum) {
    strata_.push_back(std::move(stratum));
    if (strata_.size() > kMaxCompared) strata_.erase(std::ranges::min_element(strata_, {}, running_ns));
}

std::vector<Concurrency> ConcurrentCalls::found() const {
    std::vector<Concurrency> found;
    for (auto one = strata_.begin(); one != strata_.end(); ++one) {
        for (auto other = one + 1; other != strata_.end(); ++other) {
            if (one->members == other->members) continue;
            const Concurrency pair = compare(*one, *other);
            if (pair.pairs > 0) found.push_back(pair);
        }
    }
    return found;
}

}  // namespace timpani
