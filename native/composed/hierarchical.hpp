#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <vector>

#include "composed/composed_collective.hpp"
#include "composed/levels.hpp"
#include "execute/rank_and_size.hpp"

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

/// A collective done level by level: on each level's communicator, or by messages between leaders and the root.
class Hierarchical : public ComposedCollective {
  public:
    Hierarchical(const ComposedSpec& spec, const Shape& shape)
        : spec_(spec), shape_(shape), rank_(rank_in(spec.comm)), all_(levels_of(spec.args, rank_, shape)) {
        if (!spec.setup_each_call) communicators_.emplace(spec.comm, all_.levels, shape_, key());
    }

    int operator()(const void* send, void* receive) override {
        if (communicators_) return run(communicators_->get(), send, receive);
        const LevelCommunicators fresh(spec_.comm, all_.levels, shape_, key());
        return run(fresh.get(), send, receive);
    }

  protected:
    static constexpr int kTag = 19;  // of messages between leaders

    virtual int run(std::span<const MPI_Comm> comms, const void* send, void* receive) = 0;

    [[nodiscard]] std::span<const Level> levels() const { return all_.levels; }
    [[nodiscard]] const std::vector<int>& order() const { return all_.order; }
    [[nodiscard]] bool is_root() const { return rank_ == spec_.args.root; }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int count() const { return static_cast<int>(spec_.args.count); }
    [[nodiscard]] const ComposedSpec& spec() const { return spec_; }

  private:
    [[nodiscard]] int key() const { return (rank_ - spec_.args.root + spec_.args.ranks) % spec_.args.ranks; }

    ComposedSpec spec_;
    Shape shape_;
    int rank_;
    Levels all_;
    std::optional<LevelCommunicators> communicators_;
};

}  // namespace timpani
