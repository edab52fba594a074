// timpani-verify list                                     every algorithm, a JSON object a line
// timpani-verify check  RANKS RANKS COUNT COUNT NAME…     first and last of each range; `collective/algorithm` each
// timpani-verify mutate RANKS RANKS COUNT COUNT NAME…     plants mistakes, and counts those found
//
// Needs no MPI. Exit status 1 if a mistake was found.

#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "verify/cases.hpp"
#include "verify/mutate.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

void list() {
    for (const Algorithm* algorithm : algorithms()) {
        std::vector<std::string> parameters;
        for (const auto& parameter : algorithm->parameters) {
            parameters.push_back(JsonObject()
                                     .add("name", parameter.name)
                                     .add("default", parameter.default_value)
                                     .add("minimum", parameter.minimum)
                                     .add("trial_values", parameter.trial_values)
                                     .add("meaning", parameter.meaning)
                                     .text());
        }
        std::vector<std::string> aliases;
        for (const auto alias : algorithm->aliases) aliases.push_back(json_string(alias));
        std::cout << JsonObject()
                         .add("collective", algorithm->collective)
                         .add("name", algorithm->name)
                         .add("source", algorithm->source)
                         .add("cost", algorithm->cost)
                         .add("power_of_two", algorithm->restrictions.power_of_two)
                         .add("even", algorithm->restrictions.even)
                         .add("commutative", algorithm->restrictions.commutative)
                         .add("topology", algorithm->restrictions.topology)
                         .add("window", algorithm->window != nullptr)
                         .add_json("parameters", json_array(parameters))
                         .add_json("aliases", json_array(aliases))
                         .text()
                  << '\n';
    }
}

/// Whether the algorithm is correct in every case of the extent.
bool check(const Algorithm& algorithm, const Extent& extent) {
    const auto begin = std::chrono::steady_clock::now();
    std::int64_t checked = 0;
    std::optional<std::string> mistake;
    for_each_case(algorithm, extent, [&](const CollectiveArguments& args) {
        ++checked;
        mistake = find_mistake(algorithm, args);
        // Claims are for equal blocks, and for calls that move data.
        if (!mistake && args.count > 0 && args.counts.empty()) mistake = find_false_claim(algorithm, args);
        if (!mistake && args.count > 0) mistake = find_broken_symmetry(algorithm, args);
        if (mistake) mistake = show(algorithm, args) + ": " + *mistake;
        return !mistake;
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    JsonObject line;
    line.add("collective", algorithm.collective).add("algorithm", algorithm.name).add("checked", checked);
    line.add("seconds", seconds.count());
    if (mistake) line.add("mistake", *mistake);
    std::cout << line.text() << '\n' << std::flush;
    return !mistake;
}

bool plant(const Algorithm& algorithm, const Extent& extent) {
    MutationResult all;
    for_each_case(algorithm, extent, [&](const CollectiveArguments& args) {
        auto result = mutate(algorithm, args);
        all.made += result.made;
        all.caught += result.caught;
        all.survivors.insert(all.survivors.end(), result.survivors.begin(), result.survivors.end());
        return true;
    });
    std::vector<std::string> survivors;
    for (const auto& survivor : all.survivors) survivors.push_back(json_string(survivor));
    std::cout << JsonObject()
                     .add("collective", algorithm.collective)
                     .add("algorithm", algorithm.name)
                     .add("made", all.made)
                     .add("caught", all.caught)
                     .add_json("survivors", json_array(survivors))
                     .text()
              << '\n'
              << std::flush;
    return true;
}

const Algorithm& named(const std::string& name) {
    const auto slash = name.find('/');
    const Algorithm* algorithm =
        slash == std::string::npos ? nullptr : find_algorithm(name.substr(0, slash), name.substr(slash + 1));
    if (algorithm == nullptr) throw std::runtime_error("unknown algorithm " + name);
    return *algorithm;
}

int run(std::span<char*> arguments) {
    const std::string verb = arguments.size() > 1 ? arguments[1] : "";
    if (verb == "list" && arguments.size() == 2) {
        list();
        return 0;
    }
    if ((verb != "check" && verb != "mutate") || arguments.size() < 7) {
        throw std::runtime_error("usage: timpani-verify list | check|mutate RANKS RANKS COUNT COUNT NAME…");
    }
    const Extent extent{std::stoi(arguments[2]), std::stoi(arguments[3]), std::stoll(arguments[4]),
                        std::stoll(arguments[5])};
    bool right = true;
    for (const std::string name : arguments.subspan(6)) {
        right = (verb == "check" ? check(named(name), extent) : plant(named(name), extent)) && right;
    }
    return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with its parent, even during a long answer
    try {
        return run(std::span(argv, static_cast<std::size_t>(argc)));
    } catch (const std::exception& error) {
        std::cerr << "timpani-verify: " << error.what() << '\n';
        return 2;
    }
}
