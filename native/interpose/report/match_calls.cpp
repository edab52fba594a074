#include "interpose/report/match_calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "execute/exchange_values.hpp"

namespace timpani {

namespace {

constexpr std::size_t kStrataPerReduction = 16;  // 320 KiB in one reduction
constexpr std::size_t kMaxMatchedStrata = 4096;  // per program: about a second of reductions
constexpr int kNumbersPerCall = sizeof(MatchedCall) / sizeof(std::int64_t);
constexpr auto kNone = std::numeric_limits<std::int64_t>::min();  // no rank entered

/// What a rank knows of one stratum.
struct Claim {
    std::uint64_t id;
    std::uint64_t calls;
    std::uint64_t calls_per_kept;
    std::uint64_t ranks;  // of the communicator
    std::uint64_t members;
};

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
    std::vector<Claim> own = claims_of(contents);
    int threads = contents.several_threads ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &threads, 1, MPI_INT, MPI_MAX, comm);
    if (threads != 0) own.clear();
    return broadcast_values(agreed(gather_values(own, comm)), 0, comm);
}

/// A reduction takes the maximum of each number over the ranks, so the first entry is negative until then.
void enter(const Stratum& stratum, const ClockLine& line, std::span<MatchedCall> calls) {
    std::ranges::transform(stratum.sample.kept_calls(), calls.begin(), [&](const SampledCall& call) -> MatchedCall {
        const std::int64_t entry = line.to_global(call.entry_ns);
        return {.first_entry = -entry,
                .last_entry = entry,
                .root_entry = call.root ? entry : kNone,
                .last_exit = line.to_global(call.exit_ns),
                .number = static_cast<std::int64_t>(call.number)};
    });
}

/// The calls that some rank has entered.
std::vector<MatchedCall> leave(std::span<const MatchedCall> calls) {
    std::vector<MatchedCall> kept(calls.begin(), std::ranges::find(calls, kNone, &MatchedCall::number));
    for (MatchedCall& call : kept) call.first_entry = -call.first_entry;
    return kept;
}

RunningCalls running_calls(const Claim& claim, std::span<const MatchedCall> calls) {
    RunningCalls running{
        .id = claim.id, .members = claim.members, .probability = 1.0 / static_cast<double>(claim.calls_per_kept)};
    for (const MatchedCall& call : calls)
        running.calls.push_back({static_cast<std::uint64_t>(call.number), call.last_entry, call.last_exit});
    return running;
}

/// One kept call of this rank.
struct ObservedCall {
    double waiting;
    double time;
    double probability;
};

double waiting_in(const SampledCall& own, const MatchedCall& call, Needs needs, const ClockLine& line) {
    if (needs == Needs::root && own.root) return 0;
    if (needs == Needs::all_at_root && !own.root) return 0;
    const std::int64_t needed = needs == Needs::root ? call.root_entry : call.last_entry;
    const std::int64_t entry = line.to_global(own.entry_ns);
    return static_cast<double>(std::clamp<std::int64_t>(needed - entry, 0, own.exit_ns - own.entry_ns));
}

Waiting estimate(std::span<const ObservedCall> parts, double row_ns) {
    double waiting = 0;
    double time = 0;
    for (const ObservedCall& part : parts) {
        waiting += part.waiting / part.probability;
        time += part.time / part.probability;
    }
    const double ratio = time > 0 ? waiting / time : 0;
    double variance = 0;  // of a ratio estimate under Poisson sampling (Särndal, Swensson & Wretman 1992, 5.6)
    for (const ObservedCall& part : parts) {
        const double residual = (part.waiting - ratio * part.time) / part.probability;
        variance += (1 - part.probability) * residual * residual;
    }
    const double scale = time > 0 ? row_ns / time : 0;
    return {static_cast<std::int64_t>(parts.size()), ratio * row_ns, kNormal95 * std::sqrt(variance) * scale};
}

}  // namespace

std::vector<MatchedStratum> match_calls(MPI_Comm comm, const CallTable::Contents& contents, const ClockLine& line,
                                        ConcurrentCalls* concurrent) {
    const std::vector<Claim> strata = agree_on_strata(comm, contents);
    std::vector<MatchedStratum> matched;
    std::vector<MatchedCall> calls;
    const auto of_stratum = [&calls](std::size_t i) {
        return std::span(calls).subspan(i * CoordinatedSample::kCapacity, CoordinatedSample::kCapacity);
    };
    for (std::size_t first = 0; first < strata.size(); first += kStrataPerReduction) {
        const std::size_t number = std::min(kStrataPerReduction, strata.size() - first);
        calls.assign(number * CoordinatedSample::kCapacity, {kNone, kNone, kNone, kNone, kNone});
        for (std::size_t i = 0; i < number; ++i) {
            const auto found = contents.strata.find(strata[first + i].id);
            if (found != contents.strata.end()) enter(found->second, line, of_stratum(i));
        }
        PMPI_Allreduce(MPI_IN_PLACE, calls.data(), static_cast<int>(calls.size()) * kNumbersPerCall, MPI_INT64_T,
                       MPI_MAX, comm);
        for (std::size_t i = 0; i < number; ++i) {
            std::vector<MatchedCall> kept = leave(of_stratum(i));
            if (concurrent != nullptr) concurrent->add(running_calls(strata[first + i], kept));
            const auto found = contents.strata.find(strata[first + i].id);
            if (found != contents.strata.end()) matched.push_back({found->first, &found->second, std::move(kept)});
        }
    }
    return matched;
}

std::vector<Waiting> waiting_of_rows(const CallTable::Contents& contents, std::span<const MatchedStratum> matched,
                                     const ClockLine& line) {
    std::vector<std::vector<ObservedCall>> parts(contents.keys.size());
    for (const MatchedStratum& each : matched) {
        const CoordinatedSample& sample = each.stratum->sample;
        for (std::size_t i = 0; i < each.calls.size(); ++i) {
            const SampledCall& own = sample.kept_calls()[i];
            if (contents.keys[own.row].name == kFurtherKinds) continue;  // it has calls of other strata too
            parts[own.row].push_back({waiting_in(own, each.calls[i], each.stratum->needs, line),
                                      static_cast<double>(own.exit_ns - own.entry_ns), sample.probability()});
        }
    }
    std::vector<Waiting> waiting;
    for (std::size_t row = 0; row < parts.size(); ++row)
        waiting.push_back(estimate(parts[row], static_cast<double>(contents.totals[row].ns)));
    return waiting;
}

Lateness lateness_in(const MatchedStratum& matched, const ClockLine& line) {
    const auto& own = matched.stratum->sample.kept_calls();
    Lateness found;
    std::vector<std::int64_t> late;
    for (std::size_t i = 0; i < own.size(); ++i) {
        const MatchedCall& call = matched.calls[i];
        const std::int64_t entry = line.to_global(own[i].entry_ns);
        late.push_back(entry - call.first_entry);
        if (entry == call.last_entry) ++found.last_calls;
        found.mean_completion += static_cast<double>(call.last_exit - call.last_entry);
    }
    if (late.empty()) return found;
    const auto number = static_cast<double>(late.size());
    found.mean_completion /= number;
    for (const std::int64_t each : late) found.mean += static_cast<double>(each) / number;
    for (const std::int64_t each : late) {
        const double distance = static_cast<double>(each) - found.mean;
        found.deviation += distance * distance / number;
    }
    found.deviation = std::sqrt(found.deviation);
    std::ranges::sort(late);
    found.median = late[late.size() / 2];
    found.ninth_decile = late[late.size() * 9 / 10];
    found.largest = late.back();
    return found;
}

}  // namespace timpani
