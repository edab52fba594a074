#include "interpose/report/waiting.hpp"

#include <algorithm>
#include <cmath>

namespace timpani {

namespace {

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
