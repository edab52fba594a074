#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "schedule/parameters.hpp"
#include "schedule/schedule.hpp"
#include "schedule/step.hpp"
#include "schedule/symmetry.hpp"

namespace timpani {

/// Where an algorithm applies. Every caller honours these.
struct Restrictions {
    bool power_of_two = false;  // ranks
    bool even = false;          // ranks
    bool commutative = false;   // operator
    bool topology = false;      // known: the arguments tell which ranks share a node
    /// In words, as tables show them; empty where there is none.
    [[nodiscard]] std::string text() const;
    /// Why they don't admit `args`, alike on all ranks; empty where they do.
    [[nodiscard]] std::string_view refusal(const CollectiveArguments& args) const;
    [[nodiscard]] bool admit(const CollectiveArguments& args) const { return refusal(args).empty(); }
};

/// What an algorithm says of itself in closed form; tests compare it with the schedule. One that asks for the topology
/// says what leaves a node, and of the others what it can; all others say all but that.
struct Claims {
    /// Rounds in which anything moves.
    std::int64_t (*rounds)(const CollectiveArguments&) = nullptr;
    /// Most elements that one rank sends, over all ranks.
    std::int64_t (*max_sent)(const CollectiveArguments&) = nullptr;
    /// Most distinct ranks that one rank exchanges messages with.
    std::int64_t (*max_neighbors)(const CollectiveArguments&) = nullptr;
    /// Most elements that the ranks of one node send to other nodes.
    std::int64_t (*max_leaving_node)(const CollectiveArguments&) = nullptr;
    /// Most elements that the ranks of one group send to other groups.
    std::int64_t (*max_leaving_group)(const CollectiveArguments&) = nullptr;
};

/// One algorithm: what moves, rank by rank and round by round, and what is known of it.
///
/// Its schedule is either pure functions of the arguments, `rounds`, `round` and the like, or a class that works out
/// once what all rounds share (`prepare`); whoever wants the schedule asks timpani::prepare. Within a rank, a step
/// waits for the earlier ones that it depends on (schedule/engine/dependencies.hpp) and for nothing else; the k-th
/// message to a peer meets the k-th that the peer receives.
struct Algorithm {
    std::string_view collective;
    std::string_view name;
    std::string_view source;  // who described it, where and when
    std::string_view cost;    // under Hockney's α + βm, with γ per reduced byte
    Restrictions restrictions{};
    std::vector<Parameter> parameters{};
    std::vector<std::string_view> aliases{};
    // What each means, class Schedule says. Either the first two are given, and the third where rounds are passed over,
    // or a class that has them: `prepared<Class>`.
    std::int64_t (*rounds)(const CollectiveArguments&) = nullptr;
    void (*round)(const CollectiveArguments&, int rank, std::int64_t round, Steps& steps) = nullptr;
    std::int64_t (*next_active)(const CollectiveArguments&, int rank, std::int64_t round) = nullptr;
    std::unique_ptr<const Schedule> (*prepare)(const CollectiveArguments&) = nullptr;
    /// Elements of scratch that a rank needs; none where it is null.
    std::int64_t (*scratch)(const CollectiveArguments&, int rank) = nullptr;
    /// Elements of memory that the ranks of each node share; none where it is null. It asks for the topology. What one
    /// call left there the next must not disturb while a rank still reads it.
    std::int64_t (*window)(const CollectiveArguments&) = nullptr;
    /// Most messages that a rank may have under way at once, at least 1; where it is null, four for each rank and those
    /// of a pipeline (DependencyTracker). At the bound the oldest must end before the next starts.
    std::int64_t (*requests)(const CollectiveArguments&) = nullptr;
    /// By which renumberings of the ranks the schedule stays as it is, where blocks are of one size. The verifier
    /// checks it, and one rank is simulated for all. None where it is null.
    Symmetry (*symmetry)(const CollectiveArguments&) = nullptr;
    Claims claims;
};

/// The symmetry of the algorithm's schedule for `args`.
Symmetry symmetry_of(const Algorithm& algorithm, const CollectiveArguments& args);

/// Throws std::runtime_error where the algorithm's restrictions don't admit `args`.
void require_admitted(const Algorithm& algorithm, const CollectiveArguments& args);

/// All algorithms, by collective and name.
std::span<const Algorithm* const> algorithms();

/// The algorithm of that name or alias, or nullptr.
const Algorithm* find_algorithm(std::string_view collective, std::string_view name);

/// Enters an algorithm into the registry: `static const Register entry{{…}};` at the end of its file.
struct Register {
    explicit Register(Algorithm algorithm);
};

}  // namespace timpani
