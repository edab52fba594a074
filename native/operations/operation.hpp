#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/topology.hpp"
#include "operations/datatype.hpp"
#include "schedule/algorithm.hpp"

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

/// Arguments of an operation's constructor.
struct OperationSpec {
    std::int64_t bytes;
    std::span<const Parameter> parameters;  // the parameters that its row of operations.def lists,
    std::vector<std::int64_t> values;       // and their values
    const Datatype& datatype;
    MPI_Comm comm;
    Controls controls;
    const Topology& topology;  // of the communicator's ranks; outlives the operation

    /// The value of a parameter. Throws std::logic_error if the row doesn't list it.
    [[nodiscard]] std::int64_t value_of(std::string_view parameter) const;
};

/// Throws NotApplicable if the operation doesn't apply to the communicator's ranks or the size.
using MakeOperation = std::unique_ptr<Operation> (*)(const OperationSpec& spec);

template <typename Made>
std::unique_ptr<Operation> make(const OperationSpec& spec) {
    return std::make_unique<Made>(spec);
}

/// Registers a way to do an operation, `default` if there is only one: `const RegisterOperation latency{"latency",
/// "default", make<PingPong>};` at the end of its file.
struct RegisterOperation {
    RegisterOperation(std::string_view operation, std::string_view way, MakeOperation make);
};

/// The factory of an operation in that way, or nullptr.
MakeOperation find_maker(std::string_view operation, std::string_view way);

/// The number of whole elements in `bytes` bytes. Throws NotApplicable if it exceeds MPI's integer counts.
inline int int_count(std::int64_t bytes, const Datatype& datatype) {
    const auto count = bytes / static_cast<std::int64_t>(datatype.bytes);
    if (count > std::numeric_limits<int>::max()) {
        throw NotApplicable(std::to_string(count) + " elements are too many for MPI's integer counts");
    }
    return static_cast<int>(count);
}

}  // namespace timpani
