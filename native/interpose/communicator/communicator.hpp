#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/topology.hpp"
#include "execute/execution.hpp"
#include "interpose/call/arguments.hpp"
#include "interpose/call/intercepted_call.hpp"
#include "interpose/profile/call_table.hpp"
#include "interpose/rules/rules.hpp"
#include "measure/observe/control.hpp"

namespace timpani {

/// What an execution depends on within one communicator. Only predefined types and operators: MPI may reuse the handle
/// of a freed one.
struct PlanKey {
    const Rule* rule;
    std::int64_t count;
    int root;
    MPI_Datatype type;
    MPI_Op op;
    std::vector<std::int64_t> counts;  // of a v-collective, as CollectiveArguments has them

    friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

/// The most recent executions. All ranks together make and free executions that share memory on a node, so other
/// executions must not replace them: their keys are the same on all ranks, while the others' counts may differ.
class Plans {
  public:
    /// The execution of `key`, or nullptr.
    Execution* find(const PlanKey& key) {
        List& plans = list_of(key);
        const auto found = std::ranges::find(plans, key, [](const auto& plan) -> const auto& { return plan.first; });
        if (found == plans.end()) return nullptr;
        plans.splice(plans.begin(), plans, found);
        return found->second.get();
    }

    Execution* insert(PlanKey key, std::unique_ptr<Execution> execution) {
        List& plans = list_of(key);
        if (plans.size() == kMaxExecutions) plans.pop_back();
        return plans.emplace_front(std::move(key), std::move(execution)).second.get();
    }

    /// Frees the executions that share memory: collective.
    void clear_shared() { shared_.clear(); }

  private:
    using List = std::list<std::pair<PlanKey, std::unique_ptr<Execution>>>;  // most recent first

    List& list_of(const PlanKey& key) { return key.rule->algorithm->window == nullptr ? local_ : shared_; }

    static constexpr std::size_t kMaxExecutions = 16;  // a program's loop has few sizes; each keeps scratch of its size
    List local_;
    List shared_;
};

/// The state of one of the program's communicators. It is attached to the communicator as an attribute, which
/// duplicates don't inherit, and is freed with it. Collective calls on one communicator follow each other, so no lock
/// is needed.
///
/// It finds out what it needs in three steps, each only if a rule still matches: the number of ranks, where they are,
/// and the tags of its messages. Only the last step sends messages.
class Communicator {
  public:
    /// The state of `comm`, made at the first call. nullptr if the library can't inspect the communicator.
    static Communicator* of(MPI_Comm comm);
    /// The key of the attribute.
    static int keyval();
    /// Frees what all ranks must free together, before the program frees `comm`: windows, and communicators of the same
    /// ranks. MPI deletes the attribute at different times on different ranks, perhaps inside other calls.
    static void end_shared(MPI_Comm comm);

    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] RankInComm here() const { return here_; }
    [[nodiscard]] bool spans_two_groups() const { return spans_two_groups_; }
    /// The number of its shape in the table of calls; only if calls are counted.
    [[nodiscard]] std::uint32_t shape_number() const { return shape_number_; }
    /// Whether a rule may replace calls of that kind.
    [[nodiscard]] bool may_replace(CollectiveKind kind) const { return may_replace_[static_cast<std::size_t>(kind)]; }
    /// Whether a rule may replace a call of that kind and size.
    [[nodiscard]] bool may_replace(CollectiveKind kind, std::int64_t bytes) const;

    /// Whether a rule may replace calls of that kind, and one of these rules names a place in the program. Then ranks
    /// must agree at each call.
    [[nodiscard]] bool names_sites(CollectiveKind kind) const {
        return may_replace(kind) && names_sites_[static_cast<std::size_t>(kind)];
    }

    /// Finds out where the ranks are, which rules out more rules, or all if a rank has no libtimpani.so.
    void locate();
    /// Agrees on private tags, and returns MPI's error code. Collective, and only inside a call that a rule replaces.
    /// If no tags are left, no rule applies from then on, on all ranks.
    int open_channel();
    [[nodiscard]] bool has_channel() const { return tag_ > 0; }

    /// Whether a rank had loaded a GPU's library when the channel was opened. Then buffers may be in a GPU's memory on
    /// some ranks, and all ranks must agree at each call.
    [[nodiscard]] bool has_devices() const { return has_devices_; }

    /// Stops applying rules whose algorithm shares memory on a node.
    void disable_shared_memory();

    /// Whether all ranks can set the control variables of a rule that chooses in the library. If not, no such rule
    /// applies from then on, on all ranks. The first question for each rule is collective; MPI's error code is in
    /// `error`.
    bool can_choose(const Rule& rule, int& error);
    /// The communicator of the same ranks on which the library runs the algorithm of `rule`, after `can_choose`. The
    /// first call for each rule is collective.
    MPI_Comm library_communicator(const Rule& rule) { return chosen_->get(rule.at_creation); }

    /// How Timpani's messages travel, after `open_channel`.
    [[nodiscard]] Channel channel() const;
    /// Where the ranks are; nullptr before `locate`.
    [[nodiscard]] const Topology* topology() const { return topology_ ? &*topology_ : nullptr; }
    /// The rules that can match a call of that kind here, in order.
    [[nodiscard]] std::span<const Rule* const> rules(CollectiveKind kind) const {
        return rules_[static_cast<std::size_t>(kind)];
    }
    Plans& plans() { return plans_; }

  private:
    explicit Communicator(MPI_Comm comm);
    // What `end_shared` did not free lives as long as MPI.
    ~Communicator() { chosen_.release(); }  // NOLINT(bugprone-unused-return-value)
    /// Rules out those for which `keep` is false.
    template <typename Keep>
    void keep_rules(Keep keep);
    [[nodiscard]] CommunicatorShape shape() const;
    void leave_to_library(const char* why);

    MPI_Comm comm_;
    RankInComm here_{};
    bool spans_two_groups_ = false;
    std::uint32_t shape_number_ = 0;
    std::bitset<kCollectiveKinds.size()> may_replace_;
    std::bitset<kCollectiveKinds.size()> names_sites_;
    std::array<std::vector<const Rule*>, kCollectiveKinds.size()> rules_;
    std::vector<int> members_;  // ranks in the world's communicator
    std::optional<Topology> topology_;
    int tag_ = 0;  // 0: not agreed yet
    bool has_devices_ = false;
    Plans plans_;
    std::unique_ptr<ControlledCommunicators> chosen_;
    std::vector<const Rule*> can_choose_;
};

/// Incremented when a communicator is freed. Cached handles are then invalid, since MPI may reuse them.
inline constinit std::atomic<std::uint64_t> generation = 1;

inline void invalidate_cached_communicators() { generation.fetch_add(1); }

/// The communicator that a thread called last. Most programs use few, and reading the attribute takes longer than
/// everything else here.
struct CachedCommunicator {
    MPI_Comm comm;
    std::uint64_t generation;  // 0: nothing is cached
    Communicator* state;
};

// Compiled for the initial-exec model: thread-local data of a preloaded library is in the static block, so reading it
// calls no function.
inline thread_local constinit CachedCommunicator cached{};

/// The state of `comm`, as Communicator::of gives it. Always inlined: calling it takes 13 more instructions.
[[gnu::always_inline]] inline Communicator* cached_communicator(MPI_Comm comm) {
    const auto now = generation.load(std::memory_order_acquire);
    if (cached.generation == now && cached.comm == comm) return cached.state;
    Communicator* const state = Communicator::of(comm);
    if (state != nullptr) cached = {comm, now, state};  // an invalid handle may become a valid one
    return state;
}

}  // namespace timpani
