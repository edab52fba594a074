#include "interpose/report/rank_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <sstream>
#include <system_error>

#include "interpose/process/process.hpp"
#include "interpose/profile/call_site.hpp"
#include "json/json.hpp"

namespace timpani {

namespace {

constexpr char kMark = '\t';  // between a row's key and values, around a long call's values: no JSON text contains it

/// A line about calls of one key.
JsonObject line_of_key(std::string_view line, const CallKey& key, const CommunicatorShape& shape) {
    JsonObject object;
    object.add("line", line)
        .add("name", key.name)
        .add("form", name_of(key.form))
        .add("world", shape.world)
        .add("between_groups", shape.between_groups)
        .add("ranks", shape.ranks)
        .add("nodes", shape.nodes)
        .add("per_node", shape.per_node)
        .add("made", shape.made)
        .add("stride", shape.stride)
        .add("size_class", key.size_class)
        .add("in_place", key.in_place)
        .add("operator", key.reduction)
        .add("datatype", key.datatype)
        .add("algorithm", key.algorithm)
        .add("reason", key.reason);
    if (key.site != nullptr) object.add("site", site_text(key.site));
    return object;
}

/// The name of this rank's program.
std::string program_name() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).filename();
}

std::string rank_line(int rank, const CallTable::Contents& contents) {
    const Process& process = Process::get();
    std::array<char, 256> host{};  // POSIX: names have at most 255 bytes
    gethostname(host.data(), host.size() - 1);
    std::array<std::int64_t, 6> ns{};
    for (std::size_t row = 0; row < contents.keys.size(); ++row)
        ns[static_cast<std::size_t>(contents.keys[row].form)] += contents.totals[row].ns;
    JsonObject line;
    line.add("line", "rank").add("rank", rank).add("host", host.data()).add("program", program_name());
    line.add("wall_ns", process.clock.now() - process.began_ns);
    for (const Form form :
         {Form::blocking, Form::non_blocking, Form::persistent, Form::message, Form::completion, Form::setup})
        line.add(std::string(name_of(form)) + "_ns", ns[static_cast<std::size_t>(form)]);
    return line.text();
}

std::string hexadecimal(std::uint64_t number) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
    return text.data();
}

std::string sent_line(int rank, const CallTable::Contents& contents, std::uint64_t id, const Stratum& stratum,
                      const ProvenCall& call) {
    std::vector<std::string> sent;
    for (const SentTo& each : call.sent) {
        sent.push_back("[" + std::to_string(each.peer) + "," + std::to_string(each.messages) + "," +
                       std::to_string(each.bytes) + "]");
    }
    return JsonObject()
        .add("line", "sent")
        .add("stratum", hexadecimal(id))
        .add("rank", rank)
        .add("comm_rank", call.rank)
        .add("name", stratum.name)
        .add("ranks", contents.shapes[stratum.shape].ranks)
        .add("size_class", stratum.size_class)
        .add("bytes", call.bytes)
        .add("element_bytes", call.element_bytes)
        .add("root", call.root)
        .add_json("sent", json_array(sent))
        .text();
}

std::string lateness_line(int rank, const CallTable::Contents& contents, const MatchedStratum& matched,
                          const ClockLine& clock) {
    const Stratum& stratum = *matched.stratum;
    const CommunicatorShape& shape = contents.shapes[stratum.shape];
    const Lateness late = lateness_in(matched, clock);
    return JsonObject()
        .add("line", "lateness")
        .add("stratum", hexadecimal(matched.id))
        .add("rank", rank)
        .add("name", stratum.name)
        .add("world", shape.world)
        .add("ranks", shape.ranks)
        .add("nodes", shape.nodes)
        .add("per_node", shape.per_node)
        .add("made", shape.made)
        .add("stride", shape.stride)
        .add("size_class", stratum.size_class)
        .add("calls", static_cast<std::int64_t>(stratum.sample.calls()))
        .add("sampled", static_cast<std::int64_t>(matched.calls.size()))
        .add("mean_ns", late.mean)
        .add("deviation_ns", late.deviation)
        .add("median_ns", late.median)
        .add("ninth_decile_ns", late.ninth_decile)
        .add("largest_ns", late.largest)
        .add("last_calls", late.last_calls)
        .add("completion_ns", late.mean_completion)
        .text();
}

LongCall long_call(int rank, const CountedCall& call, const CommunicatorShape& shape, const ClockLine& clock) {
    JsonObject line = line_of_key("longest", call.key, shape);
    line.add("rank", rank)
        .add("bytes", call.bytes)
        .add("ns", call.ns)
        .add("began_ns", std::max<std::int64_t>(0, call.entry_ns - Process::get().began_ns));  // of a session: before
    return {clock.to_global(call.entry_ns), call.ns, shape.members, std::string(call.key.name), line.text()};
}

/// Calls `visit` with each value's name in the profile, and the value.
template <typename Row, typename Visit>
void visit_values(Row& row, const Visit& visit) {
    visit("calls", row.totals.calls);
    visit("bytes", row.totals.bytes);
    visit("smallest_bytes", row.totals.smallest_bytes);
    visit("largest_bytes", row.totals.largest_bytes);
    visit("ns", row.totals.ns);
    visit("ns_max", row.ns_max);
    visit("longest_ns", row.totals.longest_ns);
    visit("root", row.totals.root);
    visit("root_calls", row.totals.root_calls);
    visit("rooted_calls", row.rooted_calls);
    visit("matched_calls", row.waiting.matched_calls);
    visit("matched_ns", row.matched_ns);
    visit("waiting_ns", row.waiting.waiting_ns);
    visit("waiting_error_ns", row.waiting.error_ns);
}

}  // namespace

std::string concurrent_line(const Concurrency& pair) {
    return JsonObject()
        .add("line", "concurrent")
        .add("stratum", hexadecimal(pair.one))
        .add("other", hexadecimal(pair.other))
        .add("pairs", pair.pairs)
        .add("ns", pair.ns)
        .add("error_ns", pair.error_ns)
        .text();
}

void RowValues::add(const RowValues& other) {
    const CallTotals& added = other.totals;
    totals.smallest_bytes =
        totals.calls == 0 ? added.smallest_bytes : std::min(totals.smallest_bytes, added.smallest_bytes);
    totals.largest_bytes = std::max(totals.largest_bytes, added.largest_bytes);
    totals.calls += added.calls;
    totals.bytes += added.bytes;
    totals.ns += added.ns;
    totals.longest_ns = std::max(totals.longest_ns, added.longest_ns);
    if (added.root == totals.root) {  // of several communicators too
        totals.root_calls += added.root_calls;
    } else if (added.root_calls > totals.root_calls) {
        totals.root = added.root;
        totals.root_calls = added.root_calls;
    }
    ns_max = std::max(ns_max, other.ns_max);
    rooted_calls += other.rooted_calls;
    matched_ns += other.matched_ns;
    waiting.matched_calls += other.waiting.matched_calls;
    waiting.waiting_ns += other.waiting.waiting_ns;
    waiting.error_ns += other.waiting.error_ns;
}

std::string row_line(const std::string& key, const RowValues& values) {
    JsonObject numbers;
    visit_values(values, [&numbers](const char* name, auto value) { numbers.add(name, value); });
    return key + ',' + numbers.text().substr(1);
}

std::string ReportLines::text() const {
    std::ostringstream out;
    out.precision(std::numeric_limits<double>::max_digits10);
    for (const std::string& line : others) out << line << '\n';
    for (const LongCall& call : longest) {
        out << kMark << call.begin_ns << ' ' << call.ns << ' ' << call.members << ' ' << call.name << kMark << call.text
            << '\n';
    }
    for (const auto& [key, values] : rows) {
        out << key << kMark;
        visit_values(values, [&out](const char* /*name*/, auto value) { out << value << ' '; });
        out << '\n';
    }
    return out.str();
}

void ReportLines::add(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto mark = line.find(kMark);
        if (mark == std::string::npos) {
            others.push_back(line);
            continue;
        }
        if (mark == 0) {
            const auto end = line.find(kMark, 1);
            LongCall call{.text = line.substr(end + 1)};
            std::istringstream(line.substr(1, end - 1)) >> call.begin_ns >> call.ns >> call.members >> call.name;
            longest.push_back(std::move(call));
            continue;
        }
        RowValues values;
        std::istringstream numbers(line.substr(mark + 1));
        visit_values(values, [&numbers](const char* /*name*/, auto& value) { numbers >> value; });
        rows[line.substr(0, mark)].add(values);
    }
}

ReportLines lines_of_rank(int rank, const CallTable::Contents& contents, const std::vector<MatchedStratum>& matched,
                          const ClockLine& line) {
    ReportLines lines;
    lines.others.push_back(rank_line(rank, contents));
    for (const MatchedStratum& each : matched) lines.others.push_back(lateness_line(rank, contents, each, line));
    for (const auto& [id, stratum] : contents.strata)
        if (stratum.proven) lines.others.push_back(sent_line(rank, contents, id, stratum, *stratum.proven));
    for (const CountedCall& call : contents.longest)
        lines.longest.push_back(long_call(rank, call, contents.shapes[call.key.shape], line));
    const std::vector<Waiting> waiting = waiting_of_rows(contents, matched, line);
    for (std::size_t row = 0; row < contents.keys.size(); ++row) {
        const CallTotals& totals = contents.totals[row];
        const Waiting& waited = waiting[row];
        const CommunicatorShape& shape = contents.shapes[contents.keys[row].shape];
        std::string key = line_of_key("calls", contents.keys[row], shape).text();
        key.pop_back();
        RowValues& values = lines.rows[key];
        values.add({.totals = totals,
                    .rooted_calls = totals.root_calls,
                    .matched_ns = waited.matched_calls > 0 ? totals.ns : 0,
                    .waiting = waited});
        values.ns_max = values.totals.ns;
    }
    return lines;
}

}  // namespace timpani
