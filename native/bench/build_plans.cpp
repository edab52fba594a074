// timpani-bench-plans RANKS BYTES: the time to build the plan of one rank, as a JSON line for each algorithm.
//
// It is the maximum over the first, the second, the middle and the last rank, each the minimum of several builds. Needs
// no MPI.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <string>

#include "execute/program.hpp"
#include "json/json.hpp"

namespace {

using namespace timpani;

constexpr int kBuilds = 5;

double seconds_to_build(const Algorithm& algorithm, const CollectiveArguments& args, int rank) {
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kBuilds; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const Program program = compile(algorithm, args, rank);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        fastest = std::min(fastest, taken.count());
    }
    return fastest;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: timpani-bench-plans RANKS BYTES\n";
        return 2;
    }
    CollectiveArguments args{.ranks = std::stoi(argv[1]), .count = std::stoll(argv[2]), .root = 0};
    for (const Algorithm* algorithm : algorithms()) {
        for (std::size_t i = 0; i < algorithm->parameters.size(); ++i) {
            args.parameters.at(i) = algorithm->parameters[i].default_value;
        }
        if (!algorithm->restrictions.admit(args)) continue;
        double slowest = 0;
        for (const int rank : {0, 1, args.ranks / 2, args.ranks - 1}) {
            slowest = std::max(slowest, seconds_to_build(*algorithm, args, rank));
        }
        std::cout << JsonObject()
                         .add("collective", algorithm->collective)
                         .add("algorithm", algorithm->name)
                         .add("rounds", algorithm->claims.rounds(args))
                         .add("seconds", slowest)
                         .text()
                  << '\n';
    }
    return 0;
}
