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

/// What the ranks of MPI_COMM_WORLD that run with this library agreed on when MPI started. Later they agree only on
/// tags. So a communicator's first call sends no message if no rule matches.
class World {
  public:
    /// After MPI_Init, on every rank that has the library.
    static void begin();
    /// Before MPI_Finalize.
    static void end();
    /// nullptr before `begin` and after `end`, and if the ranks could not find out which of them have the library.
    static World* get() { return current.load(std::memory_order_acquire); }

    /// All ranks that have the library, in the world's order, for Timpani's messages only; it returns errors.
    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    /// This rank alone, to check arguments with the library; it returns errors.
    [[nodiscard]] MPI_Comm alone() const { return alone_; }
    /// Whether these ranks have rules, and the same ones.
    [[nodiscard]] bool has_rules() const { return has_rules_; }
    /// Whether several threads of one of these ranks may call MPI at once.
    [[nodiscard]] bool threads() const { return threads_; }

    /// Whether another program spawned this one.
    [[nodiscard]] bool spawned() const { return spawned_; }

    /// The ranks of `comm` in comm(); nullopt if one of them has no library or belongs to another world.
    [[nodiscard]] std::optional<std::vector<int>> find(MPI_Comm comm) const;
    /// Where all ranks of comm() are, if there are rules or calls are counted.
    [[nodiscard]] const std::optional<Topology>& topology() const { return topology_; }
    /// The common clock of comm(), if calls are counted; else nullptr.
    [[nodiscard]] GlobalClock* clock() const { return clock_.get(); }
    /// Where these ranks are.
    [[nodiscard]] Topology topology_of(const std::vector<int>& ranks) const;
    /// Sets `tag` to a tag such that it and the next are unused between all ranks of `comm`; to -1 if no such tag is
    /// left. Collective over `comm`, whose ranks all have the library. Returns MPI's error code.
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
    bool spawned_ = false;  // determined when MPI starts: the program may free the parent's communicator
    // The last tag in use: a message that no program received must not reach a clock.
    std::atomic<int> tags_ = GlobalClock::kTag;
    int most_tags_ = 0;
};

/// While it lives, MPI returns errors on a communicator instead of calling the program's handler.
class ReturnedErrors {
  public:
    explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm, &handler_);
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    ~ReturnedErrors() {
        PMPI_Comm_set_errhandler(comm_, handler_);
        PMPI_Errhandler_free(&handler_);
    }
    ReturnedErrors(const ReturnedErrors&) = delete;
    ReturnedErrors& operator=(const ReturnedErrors&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace timpani
