#include "interpose/report/match_calls.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>

#include "execute/rank_and_size.hpp"

namespace timpani {

namespace {

constexpr std::size_t kStrataPerReduction = 16;  // 320 KiB in one reduction
constexpr std::size_t kMaxMatchedStrata = 4096;  // per program: about a second of reductions
constexpr std::size_t kTimes = 5;                // per call: the members of MatchedCall, and its number
constexpr auto kNone = std::numeric_limits<std::int64_t>::min();

/// What a rank knows of one stratum.
struct Claim {
    std::uint64_t id;
    std::uint64_t calls;
    std::uint64_t calls_per_kept;
    std::uint64_t ranks;  // of the communicator
    std::uint64_t members;
};
constexpr int kNumbers = sizeof(Claim) / sizeof(std::uint64_t);

std::vector<Claim> claims_of(const CallTable::Contents& contents) {
    std::vector<Claim> claims;
    for (const auto& [id, stratum] : contents.strata) {
        const CommunicatorShape& shape = contents.shapes[stratum.shape];
        claims.push_back({id, stratum.sample.calls(), stratum.sample.calls_per_kept(),
                          static_cast<std::uint64_t>(shape.ranks), shape.members});
    }
    return claims;
}

/// At rank 0: strata on which all ranks agree.
std::vector<Claim> agreed(const std::vector<Claim>& claims) {
    struct Agreement {
        Claim claim;
        std::uint64_t holders = 0;
        bool same = true;
    };
    std::map<std::uint64_t, Agreement> by_id;
    for (const Claim& claim : claims) {
        Agreement& found = by_id.try_emplace(claim.id, Agreement{.claim = claim}).first->second;
        found.same = found.same && found.claim.calls == claim.calls && found.claim.ranks == claim.ranks;
        ++found.holders;
    }
    std::vector<Claim> strata;
    for (const auto& [id, found] : by_id) {
        if (found.same && found.holders == found.claim.ranks && strata.size() < kMaxMatchedStrata)
            strata.push_back(found.claim);
    }
    return strata;
}

std::vector<Claim> agree_on_strata(MPI_Comm comm, const CallTable::Contents& contents) {
    const int rank = rank_in(comm);
    std::vector<Claim> own = claims_of(contents);
    int threads = contents.several_threads ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &threads, 1, MPI_INT, MPI_MAX, comm);
    if (threads != 0) own.clear();
    const int length = static_cast<int>(own.size()) * kNumbers;
    std::vector<int> lengths(static_cast<std::size_t>(size_of(comm)));
    PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
    std::vector<int> places(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    std::vector<Claim> all(rank == 0 ? static_cast<std::size_t>((places.back() + lengths.back()) / kNumbers) : 0);
    PMPI_Gatherv(own.data(), length, MPI_UINT64_T, all.data(), lengths.data(), places.data(), MPI_UINT64_T, 0, comm);
    std::vector<Claim> strata = agreed(all);
    auto number = static_cast<int>(strata.size());
    PMPI_Bcast(&number, 1, MPI_INT, 0, comm);
    strata.resize(static_cast<std::size_t>(number));
    PMPI_Bcast(strata.data(), number * kNumbers, MPI_UINT64_T, 0, comm);
    return strata;
}

void enter(const Stratum& stratum, const ClockLine& line, std::int64_t* times) {
    for (const SampledCall& call : stratum.sample.kept_calls()) {
        const std::int64_t entry = line.to_global(call.entry_ns);
        times[0] = -entry;
        times[1] = entry;
        times[2] = call.root ? entry : kNone;
        times[3] = line.to_global(call.exit_ns);
        times[4] = static_cast<std::int64_t>(call.number);
        times += kTimes;
    }
}

std::vector<MatchedCall> leave(const Stratum& stratum, const std::int64_t* times) {
    std::vector<MatchedCall> calls;
    for (std::size_t call = 0; call < stratum.sample.kept_calls().size(); ++call, times += kTimes) {
        calls.push_back({-times[0], times[1], times[2], times[3]});
    }
    return calls;
}

RunningCalls running_calls(const Claim& claim, const std::int64_t* times) {
    RunningCalls running{
        .id = claim.id, .members = claim.members, .probability = 1.0 / static_cast<double>(claim.calls_per_kept)};
    for (std::size_t call = 0; call < CoordinatedSample::kCapacity && times[4] != kNone; ++call, times += kTimes)
        running.calls.push_back({static_cast<std::uint64_t>(times[4]), times[1], times[3]});
    return running;
}

}  // namespace

std::vector<MatchedStratum> match_calls(MPI_Comm comm, const CallTable::Contents& contents, const ClockLine& line,
                                        ConcurrentCalls* concurrent) {
    const std::vector<Claim> strata = agree_on_strata(comm, contents);
    std::vector<MatchedStratum> matched;
    std::vector<std::int64_t> times;
    constexpr std::size_t kNumbersPerStratum = CoordinatedSample::kCapacity * kTimes;
    for (std::size_t first = 0; first < strata.size(); first += kStrataPerReduction) {
        const std::size_t number = std::min(kStrataPerReduction, strata.size() - first);
        times.assign(number * kNumbersPerStratum, kNone);
        for (std::size_t i = 0; i < number; ++i) {
            const auto found = contents.strata.find(strata[first + i].id);
            if (found != contents.strata.end()) enter(found->second, line, times.data() + i * kNumbersPerStratum);
        }
        PMPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_INT64_T, MPI_MAX, comm);
        for (std::size_t i = 0; i < number; ++i) {
            const std::int64_t* const of_stratum = times.data() + i * kNumbersPerStratum;
            if (concurrent != nullptr) concurrent->add(running_calls(strata[first + i], of_stratum));
            const auto found = contents.strata.find(strata[first + i].id);
            if (found == contents.strata.end()) continue;
            matched.push_back({found->first, &found->second, leave(found->second, of_stratum)});
        }
    }
    return matched;
}

}  // namespace timpani
