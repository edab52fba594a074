#pragma once

#include <mpi.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/topology.hpp"
#include "execute/channel.hpp"
#include "interpose/call/arguments.hpp"
#include "interpose/call/intercepted_call.hpp"
#include "interpose/communicator/plans.hpp"
#include "interpose/profile/call_table.hpp"
#include "interpose/rules/rules.hpp"

namespace timpani {

/// What the library knows of one communicator of the program. It hangs on that communicator as an attribute, which
/// duplicates don't inherit, and is freed with it. Collective calls on one communicator come one after the other, so
/// that nothing here needs a lock.
///
/// It learns what it needs in three steps, each only where a rule still fits: how many ranks there are, where they are,
/// and by which tags their messages travel. Only the last takes messages.
class Communicator {
  public:
    /// The state of `comm`, made at the first call. nullptr where the library can't look at the communicator.
    static Communicator* of(MPI_Comm comm);
    /// The key of the attribute that the state hangs on.
    static int keyval();
    /// Frees what only all ranks together can free, before the program frees `comm`: where MPI deletes the state may be
    /// in the middle of other calls, at other times on other ranks.
    static void end_windows(MPI_Comm comm);

    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] RankInComm here() const { return here_; }
    [[nodiscard]] bool spans_two_groups() const { return spans_two_groups_; }
    /// Of what is known of its ranks, in the table of calls; only where calls are counted.
    [[nodiscard]] std::uint32_t shape_number() const { return shape_number_; }
    /// Whether a rule may replace calls of that kind.
    [[nodiscard]] bool may_replace(CollectiveKind kind) const { return may_replace_[static_cast<std::size_t>(kind)]; }
    /// Whether a rule may replace a call of that kind and size.
    [[nodiscard]] bool may_replace(CollectiveKind kind, std::int64_t bytes) const;

    /// Finds out where the ranks are, by which more rules fall away: all of them where a rank has no library.
    void locate();
    /// Agrees on tags of its own, and returns what MPI says of that. Collective, and only inside a call that a rule
    /// replaces. Where there are none left, no rule applies from then on, on all ranks alike.
    int open_channel();
    [[nodiscard]] bool has_channel() const { return tag_ > 0; }

    /// Whether a rank had loaded a GPU's library as the channel was opened: then buffers may lie in a GPU's memory on
    /// some ranks, and all have to agree at each call.
    [[nodiscard]] bool has_devices() const { return has_devices_; }

    /// From now on no rule applies here whose algorithm shares memory on a node.
    void disable_shared_memory();

    /// How messages of ours travel, after `open_channel`.
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
    ~Communicator() = default;
    template <typename Keep>
    void choose_rules(Keep keep);
    [[nodiscard]] CommunicatorShape shape() const;
    void leave_to_library(const char* why);
    [[nodiscard]] bool matches(const Topology& topology, const Rule& rule) const;

    MPI_Comm comm_;
    RankInComm here_{};
    bool spans_two_groups_ = false;
    std::uint32_t shape_number_ = 0;
    std::bitset<kCollectiveKinds.size()> may_replace_;
    std::array<std::vector<const Rule*>, kCollectiveKinds.size()> rules_;
    std::vector<int> members_;  // as the world's communicator numbers them
    std::optional<Topology> topology_;
    int tag_ = 0;  // 0: none yet
    bool has_devices_ = false;
    Plans plans_;
};

}  // namespace timpani
