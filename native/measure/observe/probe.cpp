#include "measure/observe/probe.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>

#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

constexpr int kProbeTag = 6;
constexpr std::int64_t kPairBytes = 128;  // bytes: two cache lines, since some processors fetch pairs of lines
constexpr std::int64_t kCacheLineTrips = 40;
constexpr std::int64_t kMessageTrips = 5;
constexpr std::int64_t kNotMeasured = -1;

using Flag = std::atomic_ref<std::int32_t>;

/// The partner of the `place`-th of `members`; −1 for the last of an odd number.
int partner_at(const std::vector<int>& members, std::size_t place) {
    const auto other = place ^ 1U;
    return other < members.size() ? members[other] : -1;
}

}  // namespace

Probe::Probe(MPI_Comm comm, const Topology& topology) : comm_(comm), rank_(rank_in(comm)), ranks_(size_of(comm)) {
    std::map<int, std::vector<int>> ranks_of_node;
    for (int rank = 0; rank < ranks_; ++rank) ranks_of_node[topology.node_of(rank)].push_back(rank);
    std::vector<int> firsts;
    std::size_t largest = 0;
    for (const auto& [node, ranks] : ranks_of_node) {
        firsts.push_back(ranks.front());
        largest = std::max(largest, ranks.size());
    }
    const auto pair_with = [this](const std::vector<int>& members) -> Partner {
        for (std::size_t place = 0; place < members.size(); ++place) {
            if (members[place] == rank_) return {partner_at(members, place), place % 2 == 0};
        }
        return {};
    };
    const auto& mine = ranks_of_node[topology.node_of(rank_)];
    in_node_ = pair_with(mine);
    between_nodes_ = pair_with(firsts);
    if (largest < 2) return;
    try {
        window_ = std::make_unique<SharedWindow>(comm, topology, static_cast<std::int64_t>(largest) * kPairBytes);
    } catch (const NoSharedMemory&) {
        in_node_ = {};
        return;
    }
    const auto lower = std::min(rank_, in_node_.rank < 0 ? rank_ : in_node_.rank);
    const auto place = std::ranges::find(mine, lower) - mine.begin();
    line_ = window_->base() + place * kPairBytes;
    if (in_node_.begins || in_node_.rank < 0) std::memset(line_, 0, kPairBytes);
    MPI_Barrier(comm);
}

std::int64_t Probe::pass_cache_line(const LocalClock& clock) const {
    Flag flag(*reinterpret_cast<std::int32_t*>(line_));
    const std::int32_t mine = in_node_.begins ? 0 : 1;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    for (std::int64_t trip = 0; trip <= kCacheLineTrips; ++trip) {
        while (flag.load(std::memory_order_acquire) != mine) {
        }
        if (trip == 1) begin = clock.now();  // the first trip includes waiting for the partner
        if (trip == kCacheLineTrips) end = clock.now();
        flag.store(1 - mine, std::memory_order_release);
    }
    return in_node_.begins ? (end - begin) / (2 * (kCacheLineTrips - 1)) : kNotMeasured;
}

std::int64_t Probe::pass_message(const LocalClock& clock) const {
    const int other = between_nodes_.rank;
    std::int64_t begin = 0;
    for (std::int64_t trip = 0; trip <= kMessageTrips; ++trip) {
        if (between_nodes_.begins) {
            if (trip == 1) begin = clock.now();
            MPI_Send(nullptr, 0, MPI_BYTE, other, kProbeTag, comm_);
            MPI_Recv(nullptr, 0, MPI_BYTE, other, kProbeTag, comm_, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(nullptr, 0, MPI_BYTE, other, kProbeTag, comm_, MPI_STATUS_IGNORE);
            MPI_Send(nullptr, 0, MPI_BYTE, other, kProbeTag, comm_);
        }
    }
    return between_nodes_.begins ? (clock.now() - begin) / (2 * kMessageTrips) : kNotMeasured;
}

std::vector<std::int64_t> Probe::one_way_ns(const LocalClock& clock) const {
    std::array own{kNotMeasured, kNotMeasured};
    if (in_node_.rank >= 0) own[0] = pass_cache_line(clock);
    if (between_nodes_.rank >= 0) own[1] = pass_message(clock);
    std::vector<std::int64_t> all(rank_ == 0 ? 2 * static_cast<std::size_t>(ranks_) : 0);
    MPI_Gather(own.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, 0, comm_);
    std::vector<std::int64_t> found;
    for (std::size_t kind = 0; kind < 2; ++kind) {
        for (std::size_t i = kind; i < all.size(); i += 2) {
            if (all[i] != kNotMeasured) found.push_back(all[i]);
        }
    }
    return found;
}

}  // namespace timpani
