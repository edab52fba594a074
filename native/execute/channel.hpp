#pragma once

#include <mpi.h>

#include <span>

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

}  // namespace timpani
