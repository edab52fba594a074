#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collectives/collective.hpp"
#include "execute/elements.hpp"
#include "execute/program.hpp"
#include "execute/shared_window.hpp"

namespace timpani {

/// Where the messages of a collective among `members` travel. No other messages may use `comm` with `tag` or `tag` + 1.
struct Channel {
    /// The members' communicator carries their messages.
    Channel(MPI_Comm communicator) : members(communicator), comm(communicator) {}
    /// Another communicator carries them; it numbers the members `ranks`.
    Channel(MPI_Comm communicator, MPI_Comm carrier, std::span<const int> carrier_ranks, int first_tag)
        : members(communicator), comm(carrier), ranks(carrier_ranks), tag(first_tag) {}

    [[nodiscard]] int rank_of(int member) const {
        return ranks.empty() ? member : ranks[static_cast<std::size_t>(member)];
    }
    [[nodiscard]] int tag_of_copies() const { return tag + 1; }  // from a rank to itself

    MPI_Comm members;
    MPI_Comm comm;
    std::span<const int> ranks{};  // empty: ranks as in `members`
    int tag = 17;
};

constexpr std::int64_t kMaxCount = std::numeric_limits<int>::max();  // of MPI's calls with int counts

/// A type whose one element holds `count` consecutive elements of `type`, for messages of more than `kMaxCount`. Some
/// libraries lack MPI 4's calls with large counts, but all support derived types of any length.
inline DerivedDatatype many_elements(MPI_Datatype type, MPI_Aint extent, std::int64_t count) {
    MPI_Datatype part = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(static_cast<int>(kMaxCount), type, &part);
    const int lengths[]{static_cast<int>(count / kMaxCount), static_cast<int>(count % kMaxCount)};
    const MPI_Aint places[]{0, count / kMaxCount * kMaxCount * extent};
    const MPI_Datatype types[]{part, type};
    MPI_Datatype all = MPI_DATATYPE_NULL;
    PMPI_Type_create_struct(2, lengths, places, types, &all);
    PMPI_Type_free(&part);
    return DerivedDatatype(all);
}

/// A program bound to a channel, a datatype and an operator. Calling it runs the algorithm once. Calls allocate no
/// memory, except the first in place. If the algorithm has a window, all ranks must construct and destroy it together.
///
/// Schedules work on packed blocks and on buffers that don't overlap. If a call is in place, a staging buffer replaces
/// the missing one.
class Execution {
  public:
    /// Both buffers hold elements of `type` with its gaps. `args` counts elements; for a v-collective it has the counts
    /// of all ranks. `op` is MPI_OP_NULL for collectives that only move data. Throws std::runtime_error if the
    /// algorithm does not admit the arguments or the operator, which may not commute. Throws NoSharedMemory, on all
    /// ranks, if it has a window and a node's ranks can't share memory.
    Execution(const Algorithm& algorithm, const CollectiveArguments& args, const Channel& channel, MPI_Datatype type,
              MPI_Op op);

    /// Returns MPI's first error code. `send` and `receive` are as the collective defines them. One may be MPI_IN_PLACE
    /// if MPI allows it. For a broadcast, pass its buffer twice.
    int operator()(const void* send, void* receive);

  private:
    int run(const Instruction& instruction);
    [[nodiscard]] std::byte* at(const Region& region) const {
        return bases_[static_cast<std::size_t>(region.buffer)] + region.first * layout_.extent;
    }
    /// What MPI's calls with int counts take for a region.
    struct Message {
        std::byte* data;
        int count;
        MPI_Datatype type;
    };
    [[nodiscard]] Message message(const Region& region) const;
    void describe_large_messages();
    int copy(const std::byte* from, std::byte* to, std::int64_t count) const;
    int reduce(const std::byte* from, std::byte* to, std::int64_t count) const;

    MPI_Comm comm_;
    int tag_;
    int tag_of_copies_;
    int rank_;  // in comm_
    MPI_Datatype type_;
    MPI_Op op_;
    ElementLayout layout_;
    Program program_;
    std::map<std::int64_t, DerivedDatatype> large_messages_;  // a type for each number of elements that exceeds int
    Part contributed_in_place_{};
    std::int64_t receive_elements_ = 0;
    ElementBuffer send_staging_;
    ElementBuffer receive_staging_;
    ElementBuffer scratch_;
    std::vector<MPI_Request> requests_;
    std::unique_ptr<SharedWindow> window_;
    std::array<std::byte*, kBuffers> bases_{};
};

}  // namespace timpani
