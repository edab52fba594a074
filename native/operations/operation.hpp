#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operations/datatype.hpp"
#include "operations/values.hpp"

namespace timpani {

/// MPI_T control variables and the whole numbers they are set to.
using Controls = std::vector<std::pair<std::string, int>>;

/// Of the messages that an operation sends by itself.
constexpr int kMessageTag = 4;

/// What a rank has to do with an operation's calls: its clock says when they begin and end; it takes part; it waits.
enum class Role { timed, partner, idle };

/// The loop of OSU's benchmark of an operation: its numbers of calls up to 8192 B and above, and whether all are timed
/// as one (point-to-point) or each by itself (collectives).
struct OsuLoop {
    int repetitions;
    int warmup;
    int large_repetitions;
    int large_warmup;
    bool timed_as_one;
};
constexpr OsuLoop kOsuCollective{1000, 100, 100, 10, false};
constexpr OsuLoop kOsuLatency{10'000, 100, 1000, 10, true};
constexpr OsuLoop kOsuWindows{100, 10, 20, 2, true};

/// An operation can't run on these ranks, or with this size: the cell fails, the launch goes on. The same on all ranks.
class NotApplicable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What is timed: something that ranks do together, ready to be done again and again, and the data by which it is
/// checked. Every rank has an object of its own.
class Operation {
  public:
    /// `controls` must hold (ScopedControls) while it is called, and only then.
    Operation(const Datatype& datatype, MPI_Comm comm, Controls controls)
        : datatype_(datatype), comm_(comm), controls_(std::move(controls)) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &ranks_);
    }
    virtual ~Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// One call; nothing at idle ranks. MPI's error code; the communicator decides whether an error comes back at all.
    virtual int operator()(std::byte* send, std::byte* receive) = 0;

    [[nodiscard]] virtual Role role(int /*rank*/) const { return Role::timed; }

    /// Which of the operation's own messages synchronise the timed ranks, so that calls may follow each other back to
    /// back: none begins before the one before it is over. Empty where ranks must be synchronised before each call.
    [[nodiscard]] virtual std::string_view synchronised_by() const { return {}; }

    /// Messages, one after the other, that a call's time is shared by.
    [[nodiscard]] virtual std::int64_t messages_per_call() const { return 1; }

    [[nodiscard]] virtual const OsuLoop& osu_loop() const { return kOsuCollective; }

    /// This rank's buffers: their elements, what it sends from element `first` on, and what it must have received
    /// there.
    [[nodiscard]] virtual std::int64_t send_elements() const = 0;
    [[nodiscard]] virtual std::int64_t receive_elements() const = 0;
    virtual void sent(std::int64_t first, Values values) const = 0;
    virtual void expected(std::int64_t first, Values values) const = 0;

    /// What the receive buffer holds before the call that is checked: something wrong.
    virtual void poison(std::int64_t first, Values values) const {
        expected(first, values);
        for (auto& value : values) ++value;
    }

    [[nodiscard]] const Datatype& datatype() const { return datatype_; }
    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] const Controls& controls() const { return controls_; }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int ranks() const { return ranks_; }

  private:
    const Datatype& datatype_;
    MPI_Comm comm_;
    Controls controls_;
    int rank_ = 0;
    int ranks_ = 0;
};

}  // namespace timpani
