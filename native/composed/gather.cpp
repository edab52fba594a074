// Gather, nodes first: the library's gather at each level, or gatherv if members lead unequal numbers of ranks. Or the
// root receives from all leaders, without blocking. If the root's node and group don't hold the ranks in rank order,
// the root copies blocks to their places at the end.

#include <algorithm>
#include <cstring>
#include <vector>

#include "composed/hierarchical.hpp"

namespace timpani {

namespace {

class Gather : public Hierarchical {
  public:
    Gather(const ComposedSpec& spec, const Shape& shape) : Hierarchical(spec, shape) {
        if (is_root() && std::ranges::is_sorted(order())) return;
        int elements = 0;
        for (const Level& level : levels()) {
            if (level.led_by(rank())) elements = level.elements();
        }
        gathered_.resize(static_cast<std::size_t>(elements) * spec.element_bytes);
    }

  private:
    int run(std::span<const MPI_Comm> comms, const void* send, void* receive) override {
        std::byte* const blocks = gathered_.empty() ? static_cast<std::byte*>(receive) : gathered_.data();
        FirstError error;
        for (std::size_t i = 0; i < comms.size() && levels()[i].joined_by_me(); ++i) {
            const bool leads = levels()[i].led_by(rank());
            const void* const own = i == 0 ? send : leads ? MPI_IN_PLACE : blocks;
            const bool has_communicator = comms[i] != MPI_COMM_NULL;
            error.take(has_communicator ? gather(levels()[i], comms[i], own, blocks) : receive_from_leaders(i, blocks));
        }
        if (is_root() && !gathered_.empty()) put_in_order(static_cast<std::byte*>(receive));
        return error.get();
    }

    int gather(const Level& level, MPI_Comm comm, const void* own, std::byte* blocks) {
        const MPI_Datatype type = spec().type;
        if (level.even()) return MPI_Gather(own, level.own_count, type, blocks, level.own_count, type, 0, comm);
        return MPI_Gatherv(own, level.own_count, type, blocks, level.counts.data(), level.displacements.data(), type, 0,
                           comm);
    }

    int receive_from_leaders(std::size_t i, std::byte* blocks) {
        const Level& level = levels()[i];
        const MPI_Comm comm = spec().comm;
        if (!is_root()) return MPI_Send(blocks, level.own_count, spec().type, level.members[0], kTag, comm);
        FirstError error;
        std::vector<MPI_Request> requests(level.members.size(), MPI_REQUEST_NULL);
        for (std::size_t from = 1; from < level.members.size(); ++from) {
            std::byte* const at = blocks + bytes(level.displacements[from]);
            error.take(
                MPI_Irecv(at, level.counts[from], spec().type, level.members[from], kTag, comm, &requests[from]));
        }
        error.take(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
        return error.get();
    }

    void put_in_order(std::byte* receive) const {
        const std::size_t block = bytes(count());
        const std::byte* from = gathered_.data();
        for (const int rank : order()) {
            std::memcpy(receive + static_cast<std::size_t>(rank) * block, from, block);
            from += block;
        }
    }

    [[nodiscard]] std::size_t bytes(int elements) const {
        return static_cast<std::size_t>(elements) * spec().element_bytes;
    }

    std::vector<std::byte> gathered_;  // of the ranks that this rank leads; empty at a root that needs no reordering
};

}  // namespace

std::unique_ptr<ComposedCollective> make_composed::gather(const ComposedSpec& spec, const Shape& shape) {
    return std::make_unique<Gather>(spec, shape);
}

}  // namespace timpani
