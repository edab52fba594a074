#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/step.hpp"

namespace timpani {

struct Algorithm;

/// One call of an algorithm: its steps, rank by rank and round by round. The constructor computes what all rounds
/// share. After that every function is pure and cheap: it computes any rank and round on demand, so nothing is stored
/// for a million ranks.
class Schedule {
  public:
    Schedule() = default;
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;
    virtual ~Schedule() = default;

    [[nodiscard]] virtual std::int64_t rounds() const = 0;
    /// Adds the steps of `rank` in round k to `steps`.
    virtual void round(int rank, std::int64_t k, Steps& steps) const = 0;
    /// The first round, k or later, in which `rank` may have steps; rounds() or more if no such round exists. It has no
    /// steps in the skipped rounds.
    [[nodiscard]] virtual std::int64_t next_active(int /*rank*/, std::int64_t k) const { return k; }
};

/// The schedule of `algorithm` for `args`; the counts and the topology that `args` refers to must outlive it.
std::unique_ptr<const Schedule> prepare(const Algorithm& algorithm, const CollectiveArguments& args);

/// What algorithms register whose schedule is a class: `.prepare = prepared<Broadcast>`, or `.prepare =
/// prepared_by<reduction>` if a function makes it. `Body` is constructed from arguments, to which it may refer. It has
/// `rounds()` and `round(rank, k, steps)`, and optionally `next_active(rank, k)`.
template <class Body>
class Prepared final : public Schedule {
  public:
    template <class Make>
    Prepared(const CollectiveArguments& args, const Make& make) : args_(args), body_(make(args_)) {}

    [[nodiscard]] std::int64_t rounds() const override { return body_.rounds(); }
    void round(int rank, std::int64_t k, Steps& steps) const override { body_.round(rank, k, steps); }
    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const override {
        if constexpr (requires { body_.next_active(rank, k); }) return body_.next_active(rank, k);
        return k;
    }

  private:
    CollectiveArguments args_;  // the body refers to it
    Body body_;
};

template <auto make>
std::unique_ptr<const Schedule> prepared_by(const CollectiveArguments& args) {
    return std::make_unique<Prepared<decltype(make(args))>>(args, make);
}
template <class Body>
std::unique_ptr<const Schedule> prepared(const CollectiveArguments& args) {
    return prepared_by<[](const CollectiveArguments& own) { return Body(own); }>(args);
}

/// Renumberings of the ranks that leave a schedule unchanged. If all messages of one size take equally long, all ranks
/// then do the same at the same times. A rotation maps rank r to r + s mod p, an exclusive or maps it to r ⊕ s.
enum class Symmetry : std::uint8_t { none, rotation, exclusive_or };

/// The image of `other` under the renumbering that maps rank 0 to `rank`.
constexpr int image_of(Symmetry symmetry, int ranks, int rank, int other) {
    if (symmetry == Symmetry::exclusive_or) return rank ^ other;
    return static_cast<int>((std::int64_t{rank} + other) % ranks);
}
/// The rank whose peer is rank 0 as rank 0's peer is `peer`.
constexpr int mirrored(Symmetry symmetry, int ranks, int peer) {
    return symmetry == Symmetry::exclusive_or ? peer : (ranks - peer) % ranks;
}

// Symmetries that algorithms register.

constexpr Symmetry by_rotation(const CollectiveArguments&) { return Symmetry::rotation; }
/// For algorithms that cut a vector into a part for each rank.
constexpr Symmetry by_rotation_of_parts(const CollectiveArguments& args) {
    return args.count % args.ranks == 0 ? Symmetry::rotation : Symmetry::none;
}
constexpr Symmetry by_exclusive_or(const CollectiveArguments& args) {
    return is_power_of_two(args.ranks) ? Symmetry::exclusive_or : Symmetry::none;
}
/// For algorithms in which ranks reduce data of higher and lower ranks, which is symmetric only without rank order.
constexpr Symmetry by_exclusive_or_in_any_order(const CollectiveArguments& args) {
    return args.commutative ? by_exclusive_or(args) : Symmetry::none;
}
/// The same for a vector that is cut into a part for each rank.
constexpr Symmetry by_exclusive_or_of_parts(const CollectiveArguments& args) {
    return args.count % args.ranks == 0 ? by_exclusive_or_in_any_order(args) : Symmetry::none;
}

/// A setting of an algorithm. Values are integers; `minimum` is the smallest valid one.
struct Parameter {
    std::string_view name;
    std::int64_t default_value;
    std::int64_t minimum;
    std::string_view meaning;
    /// The values that libraries choose, if the value decides which ranks exchange messages: counted messages identify
    /// an algorithm by these. Empty if the value decides only how data is cut into messages or how many are under way.
    std::span<const std::int64_t> trial_values{};
};

/// For the radix of a tree or an exchange, and for the number of chains at a root.
constexpr std::array<std::int64_t, 5> kTrialRadices{2, 3, 4, 8, 16};
constexpr std::array<std::int64_t, 5> kTrialFanouts{1, 2, 3, 4, 8};

/// Of a k-nomial tree.
constexpr Parameter kKnomialRadix{"radix", 4, 2, "base of the digits, one more than a rank's children for each",
                                  kTrialRadices};

/// Of a pipeline.
constexpr Parameter segment_bytes_parameter(std::int64_t default_value) {
    return {"segment_bytes", default_value, 0, "bytes of a segment; 0 sends the message whole"};
}

/// `name[:parameter=integer,…]`, split at the colon.
struct NamedText {
    std::string name;
    std::string parameters;
};
NamedText split_name(const std::string& text);

/// Values of `parameters`, in their order, from `parameter=integer,…`. Parameters that are not named take their default
/// values. Throws std::runtime_error, whose message starts with `whose`, for an unknown parameter or an invalid value.
std::vector<std::int64_t> read_parameters(const std::string& text, std::span<const Parameter> parameters,
                                          const std::string& whose);

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
