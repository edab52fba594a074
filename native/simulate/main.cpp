// timpani-simulate: answers each line of standard input by a JSON line.
//
//   COLLECTIVE ALGORITHM RANKS COUNT ROOT ELEMENT_BYTES ALPHA BETA GAMMA time|events [NODE GROUP]…
//
// ALGORITHM with its parameters, `knomial:radix=4`; α, β and γ as in simulate/clock.hpp. `time` is answered by
// {"time":…}, `events` by {"time":…,"events":[[kind,rank,peer,round,bytes,start,end],…]} with one entry for each
// message (its sender's rank, and the receiver as peer) and local step (peer −1); what can't be run by {"error":…}.
// NODE and GROUP of each rank follow where it is known which ranks share a node.
// Needs no MPI.

#include <algorithm>
#include <cstdio>
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
#include "schedule/bind.hpp"
#include "simulate/clock.hpp"

namespace {

using namespace timpani;

struct Request {
    std::unique_ptr<Topology> topology;  // the arguments refer to it
    BoundAlgorithm bound;
    Costs costs;
    std::string what;
};

Request parse(const std::string& line) {
    std::istringstream words(line);
    std::string collective;
    std::string algorithm;
    CollectiveArguments args{};
    Costs costs;
    std::string what;
    words >> collective >> algorithm >> args.ranks >> args.count >> args.root >> args.element_bytes >> costs.alpha >>
        costs.beta >> costs.gamma >> what;
    if (!words || (what != "time" && what != "events")) throw std::runtime_error("not a request: " + line);
    if (args.ranks < 1 || args.count < 0 || args.root < 0 || args.root >= args.ranks || args.element_bytes < 1) {
        throw std::runtime_error("not a valid call: " + line);
    }
    if (costs.alpha < 0 || costs.beta < 0 || costs.gamma < 0) throw std::runtime_error("costs under 0: " + line);
    std::vector<int> nodes;
    std::vector<int> groups;
    for (int node = 0, group = 0; words >> node >> group;) {
        nodes.push_back(node);
        groups.push_back(group);
    }
    if (!words.eof() || (!nodes.empty() && nodes.size() != static_cast<std::size_t>(args.ranks))) {
        throw std::runtime_error("not a node and a group for each rank: " + line);
    }
    auto topology = nodes.empty() ? nullptr : std::make_unique<Topology>(nodes, groups);
    args.topology = topology.get();
    const auto bound = timpani::bind(collective, algorithm, args);
    return {std::move(topology), bound, costs, what};
}

std::string describe(const Event& event, std::int64_t element_bytes) {
    const char* const kinds[] = {"send", "receive", "copy", "reduce"};
    std::ostringstream text;
    text.precision(17);
    text << '[' << quoted(kinds[static_cast<std::size_t>(event.step.kind)]) << ',' << event.rank << ','
         << event.step.peer << ',' << event.round << ',' << event.step.from.count * element_bytes << ',' << event.start
         << ',' << event.end << ']';
    return text.str();
}

std::string answer(const std::string& line) {
    const auto [topology, bound, costs, what] = parse(line);
    std::vector<Event> events;
    const auto keep = [&events](const Event& event) {
        // The sender's event stands for both.
        if (event.step.kind != Step::Kind::receive) events.push_back(event);
    };
    JsonObject object;
    object.add("time", simulate(*bound.algorithm, bound.args, costs, what == "events" ? Tell(keep) : nullptr));
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
    for (std::string line; std::getline(std::cin, line);) {
        try {
            std::cout << answer(line) << '\n';
        } catch (const std::exception& error) {
            std::cout << JsonObject().add("error", error.what()).text() << '\n';
        }
    }
    return 0;
}
