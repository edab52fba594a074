// timpani-simulate: answers each line of standard input by a JSON line.
//
//   COLLECTIVE ALGORITHM RANKS COUNT ROOT ELEMENT_BYTES time|composition|events [PLACES]
//   costs OVERHEAD REDUCED COPIED EAGER REST SHARED×3 BURST×3 IDLE EAGER_BELOW FAIR [; [FIRST_BYTES GAP PER_BYTE
//   LATENCY LATENCY_PER_BYTE]…]…
//
// ALGORITHM includes parameters, `knomial:radix=4`. Answers:
//   time         {"time":…}
//   composition  {"time":…,"waited":…,"amounts":[…],"by":"one for all"|"level"|"events"} as in simulate/clock.hpp
//   events       {"time":…,"events":[[kind,rank,peer,round,bytes,start,end],…]} with one entry for each message (the
//                sender's rank, and the receiver as peer) and local step (peer −1). If ranks wait for ever,
//                {"error":…,"events":[…]}: the last entries are sends and receives that never end, with end null
//   errors       {"error":…}
// PLACES give the nodes of ranks, if known: `NODES GROUPS core|node` for equal nodes in equal groups, filled one after
// the other or with consecutive ranks on consecutive nodes; or NODE GROUP of each rank. If sockets and last-level
// caches are known, they follow as `CORES SOCKETS CACHES core|socket` of each node, with ranks on consecutive cores or
// alternating between sockets; or as NODE GROUP SOCKET CACHE of each rank. Costs are valid for the calls that follow,
// with the lines of each relation (simulate/clock.hpp) after a semicolon, and are answered by {}; the default is the
// unit clock. FAIR is 0 or 1. A line `peak` is answered by {"peak_bytes":…}, the maximum memory of the program
// so far. Needs no MPI.

#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/topology.hpp"
#include "json/json.hpp"
#include "schedule/algorithm.hpp"
#include "simulate/clock.hpp"

namespace {

using namespace timpani;

constexpr int kMaxSockets = 4096;  // of a node: each has a memory on every node

struct Request {
    std::unique_ptr<Topology> topology;  // args.topology points to it
    BoundAlgorithm bound;
    std::string what;
};

/// The parts of each of `nodes` nodes that share ranks evenly, from the remaining words; empty if unknown.
NodeParts parse_parts(std::istringstream& words, int ranks, int nodes, const std::string& line) {
    if ((words >> std::ws).eof()) return {};
    NodeParts parts;
    std::string fill;
    words >> parts.cores >> parts.sockets >> parts.caches >> fill;
    parts.dealt = fill == "socket";
    const bool read = !words.fail() && (words >> std::ws).eof();
    if (!read || (fill != "core" && fill != "socket") || !parts.hold((ranks - 1) / nodes + 1)) {
        throw std::runtime_error("not the cores, sockets and caches of a node: " + line);
    }
    return parts;
}

/// The topology from the remaining words; nullptr if unknown.
std::unique_ptr<Topology> parse_topology(std::istringstream& words, int ranks, const std::string& line) {
    std::vector<int> numbers;
    for (int number = 0; words >> number;) numbers.push_back(number);
    const bool only_numbers = words.eof();
    if (only_numbers && numbers.empty()) return nullptr;
    words.clear();  // reset after failing to read a word as a number
    if (std::string order; !only_numbers && numbers.size() == 2 && words >> order) {
        const auto [nodes, groups] = std::pair(numbers[0], numbers[1]);
        const bool valid = 1 <= groups && groups <= nodes && nodes <= ranks;
        if (!valid || (order != "core" && order != "node")) throw std::runtime_error("not nodes and groups: " + line);
        const auto by = order == "core" ? Topology::Order::node_by_node : Topology::Order::round_robin;
        const auto parts = parse_parts(words, ranks, nodes, line);
        return std::make_unique<Topology>(Topology::even(ranks, nodes, groups, by, parts));
    }
    const std::size_t of_each = numbers.size() / static_cast<std::size_t>(ranks);
    if (!only_numbers || numbers.size() % static_cast<std::size_t>(ranks) != 0 || (of_each != 2 && of_each != 4)) {
        throw std::runtime_error("not a node and a group for each rank, nor a socket and a cache: " + line);
    }
    std::vector<int> nodes;
    std::vector<int> groups;
    std::vector<Seat> seats;
    for (std::size_t i = 0; i < numbers.size(); i += of_each) {
        nodes.push_back(numbers[i]);
        groups.push_back(numbers[i + 1]);
        if (of_each == 4) seats.push_back({numbers[i + 2], numbers[i + 3]});
    }
    const bool countable = std::ranges::all_of(seats, [&](const Seat& each) { return each.socket < kMaxSockets; });
    if (!countable) throw std::runtime_error("not a node's sockets: " + line);
    return std::make_unique<Topology>(nodes, groups, std::move(seats));
}

Request parse(const std::string& line) {
    std::istringstream words(line);
    std::string collective;
    std::string algorithm;
    CollectiveArguments args{};
    std::string what;
    words >> collective >> algorithm >> args.ranks >> args.count >> args.root >> args.element_bytes >> what;
    const auto known = {"time", "composition", "events"};
    if (!words || std::ranges::find(known, what) == known.end()) throw std::runtime_error("not a request: " + line);
    if (args.ranks < 1 || args.count < 0 || args.root < 0 || args.root >= args.ranks || args.element_bytes < 1) {
        throw std::runtime_error("not a valid call: " + line);
    }
    std::int64_t bytes = 0;  // of a block for each rank
    if (__builtin_mul_overflow(args.count, args.element_bytes, &bytes) ||
        __builtin_mul_overflow(bytes, static_cast<std::int64_t>(args.ranks), &bytes)) {
        throw std::runtime_error("more bytes than 64 bits can count: " + line);
    }
    auto topology = parse_topology(words, args.ranks, line);
    args.topology = topology.get();
    const auto bound = timpani::bind(collective, algorithm, args);
    return {std::move(topology), bound, what};
}

/// Parses the words after `costs`.
Costs parse_costs(std::istringstream& words, const std::string& line) {
    Costs costs;
    words >> costs.overhead >> costs.reduced >> costs.copied >> costs.eager >> costs.rest;
    for (double& each : costs.shared) words >> each;
    for (double& each : costs.burst) words >> each;
    words >> costs.idle >> costs.eager_below >> costs.fair;
    bool valid = !words.fail() && costs.eager_below >= 0 &&
                 std::min({costs.overhead, costs.reduced, costs.copied, costs.eager, costs.rest, costs.idle,
                           std::ranges::min(costs.shared), std::ranges::min(costs.burst)}) >= 0;
    std::size_t relations = 0;
    for (std::string word; valid && words >> word;) {
        if (word == ";") {
            valid = ++relations <= kRelations;
            continue;
        }
        valid = relations > 0;
        if (!valid) break;
        auto& lines = costs.messages.at(relations - 1);
        Line read;
        std::istringstream first(word);
        words >> read.gap >> read.per_byte >> read.latency >> read.latency_per_byte;
        valid = first >> read.first_bytes && first.eof() && read.first_bytes >= 0 && !words.fail() &&
                std::min({read.gap, read.per_byte, read.latency, read.latency_per_byte}) >= 0 &&
                (lines.empty() || lines.back().first_bytes < read.first_bytes);
        lines.push_back(read);
    }
    const bool any_lines = std::ranges::any_of(costs.messages, [](const auto& lines) { return !lines.empty(); });
    if (!valid || !any_lines) throw std::runtime_error("not costs, or negative costs: " + line);
    return costs;
}

std::string number(double value) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    return text.str();
}

std::string describe(const Event& event, std::int64_t element_bytes) {
    const char* const kinds[] = {"send", "receive", "copy", "reduce"};
    std::ostringstream text;
    text.precision(17);
    const Step& step = event.step;
    const auto count = step.kind == Step::Kind::receive ? step.to.count : step.from.count;
    text << '[' << json_string(kinds[static_cast<std::size_t>(step.kind)]) << ',' << event.rank << ',' << step.peer
         << ',' << event.round << ',' << count * element_bytes << ',' << event.start << ',';
    if (event.end == kNeverEnds) {
        text << "null]";
    } else {
        text << event.end << ']';
    }
    return text.str();
}

/// Peak memory of this program: getrusage would include what its parent held.
std::int64_t peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::int64_t kibibytes = 0;
        if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
    }
    throw std::runtime_error("/proc/self/status does not show the peak memory");
}

std::string answer(const Request& request, const Costs& costs) {
    const auto& [topology, bound, what] = request;
    JsonObject object;
    if (what == "composition") {
        const Composition found = compose(*bound.algorithm, bound.args, costs);
        std::vector<std::string> amounts;
        for (const double amount : found.amounts) amounts.push_back(number(amount));
        const char* const ways[] = {"one for all", "level", "events"};
        object.add("time", found.time).add("waited", found.waited).add_json("amounts", json_array(amounts));
        object.add("by", ways[static_cast<std::size_t>(found.way)]);
        return object.text();
    }
    std::vector<Event> events;
    const auto keep = [&events](const Event& event) {
        // The sender's event represents both, unless it waits for ever.
        if (event.step.kind != Step::Kind::receive || event.end == kNeverEnds) events.push_back(event);
    };
    try {
        object.add("time", simulate(*bound.algorithm, bound.args, costs, what == "events" ? EventSink(keep) : nullptr));
    } catch (const std::exception& error) {
        if (std::ranges::find(events, kNeverEnds, &Event::end) == events.end()) throw;  // it is not that ranks wait
        object.add("error", error.what());
    }
    if (what == "events") {
        std::ranges::sort(events, {}, [](const Event& event) { return std::tuple(event.rank, event.number); });
        std::vector<std::string> described;
        for (const Event& event : events) described.push_back(describe(event, bound.args.element_bytes));
        object.add_json("events", json_array(described));
    }
    return object.text();
}

}  // namespace

int main() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with its parent, even during a long answer
    Costs costs = unit_clock();
    for (std::string line; std::getline(std::cin, line);) {
        try {
            std::istringstream words(line);
            std::string first;
            if (words >> first; first == "costs") {
                costs = parse_costs(words, line);
                std::cout << "{}\n";
            } else if (first == "peak") {
                std::cout << JsonObject().add("peak_bytes", peak_bytes()).text() << '\n';
            } else {
                std::cout << answer(parse(line), costs) << '\n';
            }
        } catch (const std::exception& error) {
            std::cout << JsonObject().add("error", error.what()).text() << '\n';
        }
    }
    return 0;
}
