// Broadcast, the level of all leaders first and nodes last: the library's broadcast at each level, or the root's
// non-blocking sends to all leaders.

#include <vector>

#include "composed/hierarchical.hpp"

namespace timpani {

namespace {

class Bcast : public Hierarchical {
  public:
    using Hierarchical::Hierarchical;

  private:
    int run(std::span<const MPI_Comm> comms, const void* send, void* receive) override {
        void* const data = is_root() ? const_cast<void*>(send) : receive;  // the root's buffer is only read
        FirstError error;
        for (std::size_t i = comms.size(); i-- > 0;) {
            if (!levels()[i].joined_by_me()) continue;
            const bool has_communicator = comms[i] != MPI_COMM_NULL;
            error.take(has_communicator ? MPI_Bcast(data, count(), spec().type, 0, comms[i])
                                        : send_to_leaders(i, data));
        }
        return error.get();
    }

    int send_to_leaders(std::size_t i, void* data) {
        const std::vector<int>& leaders = levels()[i].members;
        if (!is_root()) return MPI_Recv(data, count(), spec().type, leaders[0], kTag, spec().comm, MPI_STATUS_IGNORE);
        FirstError error;
        std::vector<MPI_Request> requests(leaders.size(), MPI_REQUEST_NULL);
        for (std::size_t to = 1; to < leaders.size(); ++to) {
            error.take(MPI_Isend(data, count(), spec().type, leaders[to], kTag, spec().comm, &requests[to]));
        }
        error.take(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
        return error.get();
    }
};

}  // namespace

std::unique_ptr<ComposedCollective> make_composed::bcast(const ComposedSpec& spec, const Shape& shape) {
    return std::make_unique<Bcast>(spec, shape);
}

}  // namespace timpani
