#pragma once

#include <mpi.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/topology.hpp"
#include "interpose/arguments.hpp"
#include "interpose/intercepted_call.hpp"
#include "interpose/plans.hpp"
#include "interpose/rules.hpp"

namespace timpani {

/// What the library knows of one communicator of the program. It hangs on that communicator as an attribute, which
/// duplicates don't inherit, and is freed with it. Collective calls on one communicator come one after the other, so
/// that nothing here needs a lock.
class Communicator {
  public:
    /// The state of `comm`, made at the first call: collective then where there are rules, since all ranks agree that
    /// they hold the same ones. nullptr where the library can't look at the communicator.
    static Communicator* of(MPI_Comm comm);
    static void forget(Communicator* state);
    /// Frees what only all ranks together can free, before the program frees `comm`: where MPI deletes the state may be
    /// in the middle of other calls, at other times on other ranks.
    static void end_windows(MPI_Comm comm);

    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] RankInComm here() const { return here_; }
    [[nodiscard]] bool spans_two_groups() const { return spans_two_groups_; }
    /// Whether a rule may replace calls of that kind.
    [[nodiscard]] bool may_replace(CollectiveKind kind) const { return may_replace_[static_cast<std::size_t>(kind)]; }

    /// Makes what replacing needs: a communicator of our own and the topology, by which more rules fall away.
    /// Collective, and only inside a call that a rule may replace. All ranks know alike whether it worked.
    void prepare();
    [[nodiscard]] bool prepared() const { return topology_.has_value(); }

    /// From now on no rule applies here whose algorithm shares memory on a node.
    void disable_shared_memory();

    /// Of the same ranks, for messages of ours alone; it returns errors.
    [[nodiscard]] MPI_Comm private_comm() const { return private_comm_; }
    /// Where the ranks are; nullptr before `prepare`.
    [[nodiscard]] const Topology* topology() const { return topology_ ? &*topology_ : nullptr; }
    /// The rules that can match a call of that kind here, in order.
    [[nodiscard]] std::span<const Rule* const> rules(CollectiveKind kind) const {
        return rules_[static_cast<std::size_t>(kind)];
    }
    Plans& plans() { return plans_; }

  private:
    explicit Communicator(MPI_Comm comm);
    ~Communicator();
    [[nodiscard]] bool agree_on_rules() const;
    [[nodiscard]] bool create_private_comm();
    template <typename Keep>
    void choose_rules(Keep keep);
    [[nodiscard]] bool matches(const Topology& topology, const Rule& rule) const;

    MPI_Comm comm_;
    RankInComm here_{};
    bool spans_two_groups_ = false;
    std::bitset<kCollectiveKinds.size()> may_replace_;
    MPI_Comm private_comm_ = MPI_COMM_NULL;
    bool failed_ = false;
    std::optional<Topology> topology_;
    std::array<std::vector<const Rule*>, kCollectiveKinds.size()> rules_;
    Plans plans_;
};

}  // namespace timpani
