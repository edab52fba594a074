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

/// Where an algorithm applies. Every caller respects these restrictions.
struct Restrictions {
    bool power_of_two = false;  // ranks
    bool even = false;          // ranks
    bool commutative = false;   // operator
    bool topology = false;      // known: the arguments say which ranks share a node
    /// In words, as tables show them; empty if the algorithm is unrestricted.
    [[nodiscard]] std::string text() const;
    /// Why they don't admit `args`, the same text on all ranks; empty if they do.
    [[nodiscard]] std::string_view refusal(const CollectiveArguments& args) const;
    [[nodiscard]] bool admit(const CollectiveArguments& args) const { return refusal(args).empty(); }
};

/// An algorithm's costs in closed form; tests compare them with the schedule. An algorithm that needs the topology
/// claims `max_leaving_node`, and other members as far as it can. All other algorithms claim all but the last two.
struct Claims {
    /// Rounds in which at least one step takes place.
    std::int64_t (*rounds)(const CollectiveArguments&) = nullptr;
    /// Maximum number of elements that one rank sends, over all ranks.
    std::int64_t (*max_sent)(const CollectiveArguments&) = nullptr;
    /// Maximum number of distinct ranks with which one rank exchanges messages.
    std::int64_t (*max_neighbors)(const CollectiveArguments&) = nullptr;
    /// Maximum number of elements that the ranks of one node send to other nodes.
    std::int64_t (*max_leaving_node)(const CollectiveArguments&) = nullptr;
    /// Maximum number of elements that the ranks of one group send to other groups.
    std::int64_t (*max_leaving_group)(const CollectiveArguments&) = nullptr;
};

/// One algorithm: its schedule, rank by rank and round by round, and its properties.
///
/// The schedule is given in one of two ways. Either `rounds`, `round` and their companions are pure functions of the
/// arguments, or `prepare` makes an object that computes once what all rounds share. Callers get either through
/// timpani::prepare. Within a rank, a step waits only for the earlier steps that it depends on
/// (schedule/engine/dependencies.hpp). The k-th message to a peer matches the k-th receive there.
struct Algorithm {
    std::string_view collective;
    std::string_view name;
    std::string_view source;  // who described it, where and when
    std::string_view cost;    // under Hockney's α + βm, with γ per reduced byte
    Restrictions restrictions{};
    std::vector<Parameter> parameters{};
    std::vector<std::string_view> aliases{};
    // Class Schedule defines each member. Set the first two, and the third if rounds are skipped; or set `prepare` to
    // `prepared<Class>`.
    std::int64_t (*rounds)(const CollectiveArguments&) = nullptr;
    void (*round)(const CollectiveArguments&, int rank, std::int64_t round, Steps& steps) = nullptr;
    std::int64_t (*next_active)(const CollectiveArguments&, int rank, std::int64_t round) = nullptr;
    std::unique_ptr<const Schedule> (*prepare)(const CollectiveArguments&) = nullptr;
    /// Elements of scratch that a rank needs; null: no scratch.
    std::int64_t (*scratch)(const CollectiveArguments&, int rank) = nullptr;
    /// Elements of memory that the ranks of each node share; null: no such memory. It needs the topology. A call must
    /// not overwrite what an earlier call left there while a rank still reads it.
    std::int64_t (*window)(const CollectiveArguments&) = nullptr;
    /// Maximum number of messages that a rank may have under way, at least 1. Null: four for each rank and those of a
    /// pipeline (DependencyTracker). At the maximum, the oldest message must end before the next starts.
    std::int64_t (*requests)(const CollectiveArguments&) = nullptr;
    /// Renumberings of the ranks that leave the schedule unchanged if all blocks have one size. The verifier checks
    /// them, and one rank is simulated for all. Null: no symmetry.
    Symmetry (*symmetry)(const CollectiveArguments&) = nullptr;
    Claims claims;
};

/// The symmetry of the algorithm's schedule for `args`.
Symmetry symmetry_of(const Algorithm& algorithm, const CollectiveArguments& args);

/// Throws std::runtime_error if the algorithm's restrictions don't admit `args`.
void require_admitted(const Algorithm& algorithm, const CollectiveArguments& args);

/// All algorithms, by collective and name.
std::span<const Algorithm* const> algorithms();

/// The algorithm of that name or alias, or nullptr.
const Algorithm* find_algorithm(std::string_view collective, std::string_view name);

/// Adds an algorithm to the registry: `static const Register entry{{…}};` at the end of its file.
struct Register {
    explicit Register(Algorithm algorithm);
};

/// The same for an algorithm whose blocks may differ in size: it enters the collective that it names, which has equal
/// blocks, and the v-collective, such as allgather and allgatherv.
struct RegisterWithV {
    explicit RegisterWithV(Algorithm algorithm);
};

/// An algorithm and the values of its parameters, in the order in which the algorithm lists them.
struct NamedAlgorithm {
    const Algorithm* algorithm;
    std::vector<std::int64_t> parameters;
};

/// Reads `name[:parameter=integer,…]` for a collective. Parameters that are not named take their default values. Throws
/// std::runtime_error if the algorithm or a parameter does not exist.
NamedAlgorithm read_algorithm(std::string_view collective, const std::string& text);

/// An algorithm; its args contain the values of its parameters.
struct BoundAlgorithm {
    const Algorithm* algorithm;
    CollectiveArguments args;
};

/// The algorithm that `text` names (see read_algorithm), for `args`. Also throws if the algorithm doesn't apply to
/// `args`.
BoundAlgorithm bind(std::string_view collective, const std::string& text, const CollectiveArguments& args);

}  // namespace timpani
