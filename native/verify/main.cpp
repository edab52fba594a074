// timpani-verify check RANKS RANKS COUNT COUNT NAME…     first and last of each range; `collective/algorithm` each
// timpani-verify order RANKS COUNT ROOT NAME…            the order in which each adds; NAME may have parameters
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
#include "schedule/algorithm.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

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

const Algorithm& named(const std::string& name) {
    const auto slash = name.find('/');
    const Algorithm* algorithm =
        slash == std::string::npos ? nullptr : find_algorithm(name.substr(0, slash), name.substr(slash + 1));
    if (algorithm == nullptr) throw std::runtime_error("unknown algorithm " + name);
    return *algorithm;
}

/// A line for the algorithm: for each rank the different orders along its result, by their first element.
void print_order(const std::string& name, const CollectiveArguments& args) {
    const auto slash = name.find('/');
    const auto bound = timpani::bind(name.substr(0, slash), name.substr(slash + 1), args);
    std::vector<std::string> ranks;
    for (const auto& orders : orders_of(*bound.algorithm, bound.args)) ranks.push_back(json_array(orders));
    std::cout << json_array(ranks) << '\n';
}

int run(std::span<char*> arguments) {
    const std::string verb = arguments.size() > 1 ? arguments[1] : "";
    if (verb == "order" && arguments.size() > 5) {
        const CollectiveArguments args{std::stoi(arguments[2]), std::stoll(arguments[3]), std::stoi(arguments[4])};
        for (const std::string name : arguments.subspan(5)) print_order(name, args);
        return 0;
    }
    if (verb != "check" || arguments.size() < 7) {
        throw std::runtime_error(
            "usage: timpani-verify check RANKS RANKS COUNT COUNT NAME… | order RANKS COUNT ROOT NAME…");
    }
    const Extent extent{std::stoi(arguments[2]), std::stoi(arguments[3]), std::stoll(arguments[4]),
                        std::stoll(arguments[5])};
    bool right = true;
    for (const std::string name : arguments.subspan(6)) {
        right = check(named(name), extent) && right;
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
