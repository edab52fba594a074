#include "interpose/profile/call_table.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace timpani {

namespace {

/// FNV-1a: the same on all ranks, independent of addresses.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3U;
    return hash;
}

std::uint64_t address(std::string_view text) { return reinterpret_cast<std::uintptr_t>(text.data()); }

}  // namespace

std::string_view name_of(Form form) {
    switch (form) {
        case Form::blocking:
            return "blocking";
        case Form::non_blocking:
            return "non_blocking";
        case Form::persistent:
            return "persistent";
        case Form::message:
            return "message";
        case Form::completion:
            return "completion";
        case Form::setup:
            return "setup";
    }
    return "";
}

/// A sum of products, which the processor computes at the same time.
std::size_t CallKeyHash::operator()(const CallKey& key) const {
    const auto small = static_cast<std::uint64_t>(key.size_class + 1) << 8U |
                       static_cast<std::uint64_t>(key.form) << 1U | static_cast<std::uint64_t>(key.in_place);
    const std::uint64_t sum = small * 0x9E3779B97F4A7C15U + key.shape * 0xC2B2AE3D27D4EB4FU +
                              reinterpret_cast<std::uintptr_t>(key.site) * 0x165667B19E3779F9U +
                              address(key.name) * 0x85EBCA77C2B2AE63U + address(key.reduction) * 0x27D4EB2F165667C5U +
                              address(key.datatype) * 0xBF58476D1CE4E5B9U +
                              address(key.algorithm) * 0x94D049BB133111EBU + address(key.reason) * 0xD6E8FEB86659FD93U;
    return sum ^ (sum >> 32U);
}

int size_class_of(std::int64_t bytes) { return std::bit_width(static_cast<std::uint64_t>(bytes)); }

std::uint32_t CallTable::add_row(const CallKey& key) {
    auto& keys = contents_.keys;
    CallKey kept = key;
    if (keys.size() >= kMaxRows) {
        kept = {.name = kFurtherKinds, .form = key.form};
        const auto found = std::find(keys.begin() + kMaxRows, keys.end(), kept);
        if (found != keys.end()) return static_cast<std::uint32_t>(found - keys.begin());
    } else {
        rows_.emplace(key, static_cast<std::uint32_t>(keys.size()));
        if (key.site != nullptr) sites_.insert(key.site);
    }
    keys.push_back(kept);
    contents_.totals.emplace_back();
    strata_.push_back(nullptr);
    return static_cast<std::uint32_t>(keys.size() - 1);
}

std::uint32_t CallTable::row_of(const CallKey& key) {
    const std::size_t hash = CallKeyHash{}(key);
    std::uint32_t& recent = recent_[hash % recent_.size()];
    if (recent < contents_.keys.size() && contents_.keys[recent] == key) return recent;
    const auto found = rows_.find(key);
    return recent = found == rows_.end() ? add_row(key) : found->second;
}

std::uint32_t CallTable::count(const CountedCall& call) {
    const void* const site = call.key.site;
    if (site != nullptr && sites_.size() >= kMaxSites && !sites_.contains(site)) {
        CountedCall without_site = call;
        without_site.key.site = nullptr;
        return count(without_site);
    }
    const std::uint32_t row = row_of(call.key);
    CallTotals& totals = contents_.totals[row];
    totals.smallest_bytes = totals.calls == 0 ? call.bytes : std::min(totals.smallest_bytes, call.bytes);
    totals.largest_bytes = std::max(totals.largest_bytes, call.bytes);
    totals.calls += call.calls;
    totals.bytes += call.bytes;
    totals.ns += call.ns * call.calls;
    totals.longest_ns = std::max(totals.longest_ns, call.ns);
    if (call.key.form == Form::blocking && call.ns > long_ns_) keep_longest(call);
    if (call.root) {
        ++totals.root_calls;
        totals.root = *call.root;
    }
    return row;
}

void CallTable::keep_longest(const CountedCall& call) {
    auto& longest = contents_.longest;
    if (longest.size() == kLongestCalls) longest.pop_back();
    longest.insert(std::ranges::upper_bound(longest, call.ns, std::greater{}, &CountedCall::ns), call);
    if (longest.size() == kLongestCalls) long_ns_ = longest.back().ns;
}

void CallTable::add(const CountedCall& call) {
    const std::scoped_lock lock(mutex_);
    count(call);
}

void CallTable::add(const CountedCall& call, Needs needs, const ProvenCall* proven) {
    static thread_local bool counted = false;
    const std::scoped_lock lock(mutex_);
    if (!counted) {
        counted = true;
        contents_.several_threads = ++threads_ > 1;
    }
    const std::uint32_t row = count(call);
    const CommunicatorShape& shape = contents_.shapes[call.key.shape];
    if (shape.ranks < 2 || shape.members == 0) return;
    Stratum* stratum = row < kMaxRows ? strata_[row] : nullptr;
    if (stratum == nullptr) stratum = stratum_of(call.key, needs);
    if (stratum == nullptr) return;
    if (row < kMaxRows) strata_[row] = stratum;
    stratum->sample.add(call.entry_ns, call.entry_ns + call.ns, row, call.root.has_value());
    if (proven == nullptr || stratum->proven_calls >= kProvenCalls) return;
    ++stratum->proven_calls;
    stratum->proven = *proven;
}

Stratum* CallTable::stratum_of(const CallKey& key, Needs needs) {
    const std::uint64_t members = contents_.shapes[key.shape].members;
    const std::uint64_t id =
        hash_with(hash_with(members, hash_of(key.name)), static_cast<std::uint64_t>(key.size_class) + 1);
    auto& strata = contents_.strata;
    if (strata.size() >= kMaxStrata && !strata.contains(id)) return nullptr;
    return &strata.try_emplace(id, Stratum{key.name, key.shape, key.size_class, needs}).first->second;
}

std::uint32_t CallTable::shape_number(CommunicatorShape shape) {
    const std::scoped_lock lock(mutex_);
    auto& shapes = contents_.shapes;
    auto found = std::ranges::find(shapes, shape);
    if (found == shapes.end() && shapes.size() >= kMaxLists) {
        shape.members = 0;
        found = std::ranges::find(shapes, shape);
    }
    const auto number = static_cast<std::uint32_t>(found - shapes.begin());
    if (found != shapes.end()) return number;
    if (shapes.size() >= kMaxShapes) return 0;
    shapes.push_back(shape);
    return number;
}

CallTable::Contents CallTable::contents() {
    const std::scoped_lock lock(mutex_);
    return contents_;
}

}  // namespace timpani
