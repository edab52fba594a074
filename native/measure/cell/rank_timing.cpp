#include "measure/cell/rank_timing.hpp"

#include <algorithm>
#include <limits>

namespace timpani {

namespace {

/// How far the timed ranks' entries were from the injected ones, in time after the first; of the worst rank.
std::int64_t lateness_error(const std::vector<RankTiming>& all, std::size_t repetition, std::size_t per_rank,
                            const Operation& operation, const Arrivals& arrivals) {
    if (arrivals.lateness == nullptr) return 0;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    std::int64_t highest = std::numeric_limits<std::int64_t>::min();
    std::int64_t first_start = lowest;
    std::int64_t first_lateness = lowest;
    for (int rank = 0; rank < operation.ranks(); ++rank) {
        if (operation.role(rank) != Role::timed) continue;
        const auto start = all[static_cast<std::size_t>(rank) * per_rank + repetition].start;
        const auto late = arrivals.lateness->of(rank, arrivals.first + static_cast<std::int64_t>(repetition));
        first_start = std::min(first_start, start);
        first_lateness = std::min(first_lateness, late);
        lowest = std::min(lowest, start - late);
        highest = std::max(highest, start - late);
    }
    const auto asked = first_start - first_lateness;
    return std::max(highest - asked, asked - lowest);
}

Repetition combine(const std::vector<RankTiming>& all, std::size_t repetition, std::size_t per_rank,
                   const Operation& operation, const Arrivals& arrivals) {
    std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_start = std::numeric_limits<std::int64_t>::min();
    std::int64_t last_end = last_start;
    std::int64_t longest = 0;
    std::int64_t sum = 0;
    std::int64_t timed = 0;
    bool valid = true;
    for (int rank = 0; rank < operation.ranks(); ++rank) {
        const RankTiming& own = all[static_cast<std::size_t>(rank) * per_rank + repetition];
        const Role role = operation.role(rank);
        valid = valid && (own.late == 0 || role == Role::idle);
        if (role != Role::timed) continue;
        first_start = std::min(first_start, own.start);
        last_start = std::max(last_start, own.start);
        last_end = std::max(last_end, own.end);
        longest = std::max(longest, own.end - own.start);
        sum += own.end - own.start;
        ++timed;
    }
    return {.completion = last_end - (arrivals.lateness == nullptr ? first_start : last_start),
            .latency = longest,
            .average = sum / timed,
            .skew = last_start - first_start,
            .root_ahead = last_end - all[repetition].end,
            .valid = valid,
            .lateness_error = lateness_error(all, repetition, per_rank, operation, arrivals)};
}

}  // namespace

std::vector<std::int64_t> Block::times(std::int64_t Repetition::* time) const {
    std::vector<std::int64_t> values;
    for (const Repetition& repetition : repetitions) values.push_back(repetition.*time);
    return values;
}

Block collect(const Harness& harness, const Operation& operation, std::vector<RankTiming>& own, int settling,
              const Arrivals& arrivals) {
    const ClockLine line = harness.clock.line();
    for (auto& timing : own) {
        timing.start = line.to_global(timing.start);
        timing.end = line.to_global(timing.end);
    }
    const int bytes = static_cast<int>(own.size() * sizeof(RankTiming));
    std::vector<RankTiming> all(harness.rank == 0 ? own.size() * static_cast<std::size_t>(harness.size) : 0);
    MPI_Gather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, harness.comm);
    Block block;
    if (harness.rank != 0) return block;
    for (std::size_t i = 0; i < own.size(); ++i) {
        block.repetitions.push_back(combine(all, i, own.size(), operation, arrivals));
    }
    for (int rank = 0; rank < harness.size; ++rank) {
        if (operation.role(rank) != Role::timed) continue;
        auto& sum = block.rank_sums_ns.emplace_back(0);
        for (auto i = static_cast<std::size_t>(settling); i < own.size(); ++i) {
            const RankTiming& timing = all[static_cast<std::size_t>(rank) * own.size() + i];
            if (block.repetitions[i].valid) sum += timing.end - timing.start;
        }
    }
    return block;
}

}  // namespace timpani
