#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/controls.hpp"
#include "operations/datatype.hpp"
#include "operations/values.hpp"

namespace timpani {

/// Tag of the messages that an operation sends itself.
constexpr int kMessageTag = 4;

/// A rank's role in an operation's calls: its clock measures start and end; it communicates untimed; or it is idle.
enum class Role { timed, partner, idle };

/// OSU's loop for an operation: the numbers of calls up to 8192 B and above, and whether all calls are timed together
/// (point-to-point) or one by one (collectives).
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

/// Elements of a matrix that lie in a row of each buffer.
struct RowLengths {
    std::int64_t sent;
    std::int64_t received;
};

/// An operation can't run on these ranks, or with this size: the cell fails, and the launch continues. Thrown on all
/// ranks.
class NotApplicable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What is timed: something that ranks do together, any number of times, and the data that checks it. Every rank has
/// its own object.
class Operation {
  public:
    /// `controls` must be set (ScopedControls) while it is called, and only then.
    Operation(const Datatype& datatype, MPI_Comm comm, Controls controls)
        : datatype_(datatype), comm_(comm), controls_(std::move(controls)) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &ranks_);
    }
    virtual ~Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// One call; does nothing at idle ranks. Returns MPI's error code; the communicator's handler decides whether it
    /// returns at all.
    virtual int operator()(std::byte* send, std::byte* receive) = 0;

    [[nodiscard]] virtual Role role(int /*rank*/) const { return Role::timed; }

    /// Which of the operation's messages synchronize the timed ranks. Then calls may follow each other without a pause,
    /// and none starts before the last one is over. Empty if ranks must be synchronized before each call.
    [[nodiscard]] virtual std::string_view synchronized_by() const { return {}; }

    /// Number of consecutive messages that share a call's time.
    [[nodiscard]] virtual std::int64_t messages_per_call() const { return 1; }

    [[nodiscard]] virtual const OsuLoop& osu_loop() const { return kOsuCollective; }

    /// This rank's buffers: their elements, the values that it sends from element `first` on, and the values that it
    /// must receive there. By default it has no elements.
    [[nodiscard]] virtual std::int64_t send_elements() const { return 0; }
    [[nodiscard]] virtual std::int64_t receive_elements() const { return 0; }
    virtual void sent(std::int64_t /*first*/, Values /*values*/) const {}
    virtual void expected(std::int64_t /*first*/, Values /*values*/) const {}

    /// Fills the receive buffer with wrong values before the call that is checked.
    virtual void poison(std::int64_t first, Values values) const {
        expected(first, values);
        for (auto& value : values) ++value;
    }

    /// How buffers are shown as matrices; without a matrix each is one row.
    [[nodiscard]] virtual RowLengths row_lengths() const { return {send_elements(), receive_elements()}; }

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
