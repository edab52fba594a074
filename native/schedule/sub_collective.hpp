#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "schedule/algorithm.hpp"

namespace timpani {

/// The algorithm of that name. Throws std::logic_error if it doesn't exist.
inline const Algorithm& inner_algorithm(std::string_view collective, std::string_view name) {
    const Algorithm* const found = find_algorithm(collective, name);
    if (found != nullptr) return *found;
    throw std::logic_error("there is no " + std::string(collective) + "/" + std::string(name));
}

/// A collective among some of the ranks, as one phase of a larger algorithm: what a call on a sub-communicator would
/// be. An algorithm of the registry performs it. Its steps are translated: local ranks into ranks of the whole
/// communicator, and its buffers into regions of the outer algorithm's buffers.
class SubCollective {
  public:
    /// Regions of the outer algorithm's buffers that start where the inner send buffer, receive buffer and scratch do.
    using Buffers = std::array<Region, 3>;

    /// An inner call of `ranks` ranks and `count` elements. Its root is local rank 0, and it has the outer call's
    /// datatype and operator.
    SubCollective(const Algorithm& algorithm, const CollectiveArguments& outer, int ranks, std::int64_t count)
        : algorithm_(&algorithm), inside_(outer) {
        inside_.ranks = ranks;
        inside_.count = count;
        inside_.root = 0;
        inside_.topology = nullptr;
        schedule_ = prepare(*algorithm_, inside_);
    }

    [[nodiscard]] std::int64_t rounds() const { return schedule_->rounds(); }
    [[nodiscard]] std::int64_t scratch(int local_rank) const {
        return algorithm_->scratch == nullptr ? 0 : algorithm_->scratch(inside_, local_rank);
    }

    /// Round k of the inner algorithm at `local_rank`; no steps after its last round. `rank_of` maps local ranks to
    /// ranks of the whole communicator.
    template <typename RankOf>
    void round(int local_rank, std::int64_t k, const Buffers& buffers, const RankOf& rank_of, Steps& steps) const {
        if (k < 0 || k >= rounds()) return;
        Steps inner;
        schedule_->round(local_rank, k, inner);
        const auto outside = [&buffers](const Region& region) {
            if (region.count == 0) return region;
            const Region& start = buffers[static_cast<std::size_t>(region.buffer)];
            return Region{start.buffer, start.first + region.first, region.count};
        };
        for (const Step& step : inner.all()) {
            const int peer = step.is_message() ? rank_of(step.peer) : step.peer;
            steps.add({step.kind, peer, outside(step.from), outside(step.to)});
        }
    }

  private:
    const Algorithm* algorithm_;
    CollectiveArguments inside_;
    std::unique_ptr<const Schedule> schedule_;
};

}  // namespace timpani
