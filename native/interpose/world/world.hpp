#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/topology.hpp"
#include "measure/clock/global_clock.hpp"

namespace timpani {

/// What the ranks of MPI_COMM_WORLD that run with this library agreed on when MPI began. Nothing is agreed later but
/// tags, so that a communicator's first call costs no message where no rule fits.
class World {
  public:
    /// After MPI_Init, on every rank that has the library.
    static void begin();
    /// Before MPI_Finalize.
    static void end();
    /// nullptr before `begin` and after `end`, and where the ranks could not find out who has the library.
    static World* get() { return current.load(std::memory_order_acquire); }

    /// Of all ranks that have the library, in the world's order, for messages of ours alone; it returns errors.
    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    /// Of this rank alone, to ask the library about arguments; it returns errors.
    [[nodiscard]] MPI_Comm alone() const { return alone_; }
    /// Whether those hold the same rules, and some.
    [[nodiscard]] bool has_rules() const { return has_rules_; }
    /// Whether several threads of one of those may call MPI at once.
    [[nodiscard]] bool threads() const { return threads_; }

    /// Whether another program spawned this one.
    [[nodiscard]] bool spawned() const { return spawned_; }

    /// The ranks of `comm` as comm() numbers them; nullopt where one of them has no library, or is of another world.
    [[nodiscard]] std::optional<std::vector<int>> find(MPI_Comm comm) const;
    /// Where all ranks of comm() are, where there are rules or calls are counted.
    [[nodiscard]] const std::optional<Topology>& topology() const { return topology_; }
    /// The common clock of comm(), where calls are counted; nullptr elsewhere.
    [[nodiscard]] GlobalClock* clock() const { return clock_.get(); }
    /// Where those ranks are.
    [[nodiscard]] Topology topology_of(const std::vector<int>& ranks) const;
    /// Sets `tag` to one that, like the next, is used between no two ranks of `comm` yet; to -1 when there is none
    /// left. Collective over `comm`, whose ranks all have the library; returns what MPI says of that.
    int agree_on_tags(MPI_Comm comm, int& tag);

    World(const World&) = delete;
    World& operator=(const World&) = delete;

  private:
    World(std::vector<int> present, bool is_first);
    ~World();
    [[nodiscard]] std::string agree_on_rules();

    inline static constinit std::atomic<World*> current = nullptr;

    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Comm alone_ = MPI_COMM_NULL;
    MPI_Group group_ = MPI_GROUP_NULL;
    std::optional<Topology> topology_;  // of comm_
    std::unique_ptr<GlobalClock> clock_;
    bool has_rules_ = false;
    bool threads_ = false;
    bool spawned_ = false;       // found out as MPI begins: the program may free what tells it
    std::atomic<int> tags_ = 0;  // the last that was given away
    int most_tags_ = 0;
};

}  // namespace timpani
