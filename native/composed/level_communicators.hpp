#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "composed/levels.hpp"

namespace timpani {

/// One communicator for each level that needs one, made by MPI_Comm_split and freed with this object. Constructor and
/// destructor are collective over `comm`.
class LevelCommunicators {
  public:
    /// `key` orders a communicator's ranks like the members of a Level.
    LevelCommunicators(MPI_Comm comm, std::span<const Level> levels, const Shape& shape, int key) {
        const auto made = levels.size() - (shape.by_messages ? 1 : 0);
        for (const Level& level : levels.first(made)) {
            MPI_Comm_split(comm, level.joined_by_me() ? level.color : MPI_UNDEFINED, key, &comms_.emplace_back());
        }
        comms_.resize(levels.size(), MPI_COMM_NULL);
    }
    ~LevelCommunicators() {
        for (MPI_Comm& comm : comms_) {
            if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
        }
    }
    LevelCommunicators(const LevelCommunicators&) = delete;
    LevelCommunicators& operator=(const LevelCommunicators&) = delete;

    /// One for each level. MPI_COMM_NULL if this rank is not a member, or if messages reach the members.
    [[nodiscard]] std::span<const MPI_Comm> get() const { return comms_; }

  private:
    std::vector<MPI_Comm> comms_;
};

}  // namespace timpani
