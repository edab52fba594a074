// timpani-mutate RANKS RANKS COUNT COUNT NAME…     first and last of each range; `collective/algorithm` each
//
// Plants mistakes into the algorithms' schedules, and counts those that the verifier finds.

#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "schedule/algorithm.hpp"
#include "verify/verify.hpp"

namespace {

using namespace timpani;

/// How many planted mistakes the verifier found.
struct MutationResult {
    int made = 0;
    int caught = 0;
    std::vector<std::string> survivors;  // each with its place, for manual review
};

using Kind = Step::Kind;

Region& region_of(Step& step) { return step.kind == Kind::receive ? step.to : step.from; }

/// Whether exchanging two adjacent steps can matter: independent steps may run in either order, and so may two
/// reductions into one region with a commutative operator. A send from the window needn't wait for notifications: its
/// own rank wrote the data.
bool order_matters(const Step& a, const Step& b, bool commutative) {
    if (commutative && a.kind == Kind::reduce && b.kind == Kind::reduce && a.to == b.to) return false;
    const auto touches = [](const Step& writer, const Step& other) {
        return writer.kind != Kind::send && (other.reads(writer.to) || other.writes(writer.to));
    };
    const bool same_channel = a.is_message() && a.kind == b.kind && a.peer == b.peer;
    const bool announces_awaited_data = a.awaits() && b.kind == Kind::send;
    const bool announces_window =
        (a.awaits() && b.touches_window()) || (a.touches_window() && !a.is_message() && b.notifies());
    return touches(a, b) || touches(b, a) || same_channel || announces_awaited_data || announces_window;
}

struct Mutation {
    const char* what;
    std::function<bool(std::vector<Step>&, std::size_t, const CollectiveArguments&, int rank)>
        apply;  // whether it changed anything
};

const std::vector<Mutation>& mutations() {
    static const std::vector<Mutation> all{
        {"peer changed",
         [](std::vector<Step>& steps, std::size_t i, const CollectiveArguments& args, int rank) {
             if (!steps[i].is_message() || args.ranks < 3) return false;
             do steps[i].peer = (steps[i].peer + 1) % args.ranks;
             while (steps[i].peer == rank);
             return true;
         }},
        {"region moved",
         [](std::vector<Step>& steps, std::size_t i, const CollectiveArguments&, int) {
             Region& region = region_of(steps[i]);
             region.first += region.first > 0 ? -1 : 1;
             return region.count > 0;
         }},
        {"region cut",
         [](std::vector<Step>& steps, std::size_t i, const CollectiveArguments&, int) {
             Region& region = region_of(steps[i]);
             if (region.count == 0) return false;
             region.count -= 1;
             if (!steps[i].is_message()) steps[i].to.count = region.count;
             return true;
         }},
        {"step left out",
         [](std::vector<Step>& steps, std::size_t i, const CollectiveArguments&, int) {
             steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
             return true;
         }},
        {"reduction copies",
         [](std::vector<Step>& steps, std::size_t i, const CollectiveArguments&, int) {
             if (steps[i].kind != Kind::reduce) return false;
             steps[i].kind = Kind::copy;
             return true;
         }},
        {"order changed",
         [](std::vector<Step>& steps, std::size_t i, const CollectiveArguments& args, int) {
             if (i + 1 == steps.size() || !order_matters(steps[i], steps[i + 1], args.commutative) ||
                 steps[i] == steps[i + 1]) {
                 return false;
             }
             std::swap(steps[i], steps[i + 1]);
             return true;
         }},
    };
    return all;
}

/// Plants one mistake at a time into the schedule for `args`: another peer; a region moved or shortened by one element;
/// a step omitted; a reduction that only copies. It also exchanges the operands of a non-commutative operator, two
/// dependent steps, and two messages of one channel.
MutationResult mutate(const Algorithm& algorithm, const CollectiveArguments& args) {
    std::vector<std::vector<Step>> schedule;
    for (int rank = 0; rank < args.ranks; ++rank) schedule.push_back(steps_of(algorithm, args, rank));
    MutationResult result;
    for (int rank = 0; rank < args.ranks; ++rank) {
        auto& steps = schedule[static_cast<std::size_t>(rank)];
        const auto right = steps;
        for (std::size_t i = 0; i < right.size(); ++i) {
            for (const auto& [what, apply] : mutations()) {
                steps = right;
                if (!apply(steps, i, args, rank)) continue;
                ++result.made;
                if (find_mistake(algorithm, args, schedule)) {
                    ++result.caught;
                } else {
                    result.survivors.push_back(show(algorithm, args) + ", rank " + std::to_string(rank) + ", step " +
                                               std::to_string(i) + ": " + what);
                }
            }
        }
        steps = right;
    }
    return result;
}

void plant(const Algorithm& algorithm, const Extent& extent) {
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
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    const Extent extent{std::stoi(arguments[1]), std::stoi(arguments[2]), std::stoll(arguments[3]),
                        std::stoll(arguments[4])};
    for (const std::string name : arguments.subspan(5)) {
        const auto slash = name.find('/');
        plant(*find_algorithm(name.substr(0, slash), name.substr(slash + 1)), extent);
    }
}
