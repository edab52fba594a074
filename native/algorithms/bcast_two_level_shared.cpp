// Broadcast over two levels through memory that a node's ranks share, in segments: leaders pass them on along a chain
// of all nodes, as in bcast/two_level_chain, but into and out of their node's window, from which the other ranks of the
// node take each segment when they are told that it is there.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/hierarchy.hpp"

namespace timpani::bcast_two_level_shared {
namespace {

class Broadcast {
  public:
    explicit Broadcast(const Shape& shape)
        : shape_(shape),
          hierarchy_(shape),
          segments_(Segments::of(shape, shape.parameters[0])),
          slots_(std::min(shape.parameters[1], segments_.number())) {}

    [[nodiscard]] std::int64_t rounds() const {
        return shape_.count == 0 ? 0 : hierarchy_.nodes() + segments_.number();
    }
    [[nodiscard]] std::int64_t window() const { return slots_ * segments_.length; }

    /// Segment s comes to the node at position a, counted from the root's, in round a + s and is handed out in the
    /// next.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const int node = hierarchy_.topology().node_of(rank);
        const std::int64_t coming = k - hierarchy_.position_of_node(node);
        if (hierarchy_.local_rank(rank) > 0) {
            if (k == 0) steps.notify(hierarchy_.leader(node));  // what an earlier call left there is read
            if (in_range(coming - 1)) take(rank, node, coming - 1, steps);
        } else {
            if (in_range(coming - 1)) hand_out(rank, node, coming - 1, steps);
            if (in_range(coming)) take_in(rank, node, coming, steps);
        }
    }

  private:
    [[nodiscard]] bool in_range(std::int64_t segment) const { return segment >= 0 && segment < segments_.number(); }
    [[nodiscard]] bool alone(int node) const { return hierarchy_.ranks_on(node) == 1; }
    [[nodiscard]] Region own(int rank, std::int64_t segment) const {
        return segments_.region(data_of(shape_, rank), segment);
    }
    /// The window's slots are filled in turn.
    [[nodiscard]] Region slot(std::int64_t segment) const {
        return {Buffer::window, segment % slots_ * segments_.length, segments_.region(Buffer::window, segment).count};
    }
    /// Where a leader sends a segment from, or has it come to.
    [[nodiscard]] Region held(int rank, int node, std::int64_t segment) const {
        return rank == shape_.root || alone(node) ? own(rank, segment) : slot(segment);
    }

    void take(int rank, int node, std::int64_t segment, Steps& steps) const {
        steps.await(hierarchy_.leader(node));
        steps.copy(slot(segment), own(rank, segment));
        if (in_range(segment + slots_)) steps.notify(hierarchy_.leader(node));
    }

    void hand_out(int rank, int node, std::int64_t segment, Steps& steps) const {
        for (int place = 1; place < hierarchy_.ranks_on(node); ++place) steps.notify(hierarchy_.rank_at(node, place));
        const int next = hierarchy_.position_of_node(node) + 1;
        if (next < hierarchy_.nodes()) {
            steps.send(hierarchy_.leader(hierarchy_.node_at_position(next)), held(rank, node, segment));
        }
        if (rank != shape_.root && !alone(node)) steps.copy(slot(segment), own(rank, segment));
    }

    /// Into a slot once all others have read what was there.
    void take_in(int rank, int node, std::int64_t segment, Steps& steps) const {
        for (int place = 1; (segment == 0 || segment >= slots_) && place < hierarchy_.ranks_on(node); ++place) {
            steps.await(hierarchy_.rank_at(node, place));
        }
        if (rank != shape_.root) {
            const int before = hierarchy_.position_of_node(node) - 1;
            steps.receive(hierarchy_.leader(hierarchy_.node_at_position(before)), held(rank, node, segment));
        } else if (!alone(node)) {
            steps.copy(own(rank, segment), slot(segment));
        }
    }

    const Shape& shape_;
    Hierarchy hierarchy_;
    Segments segments_;
    std::int64_t slots_;
};

const Register entry{{
    .collective = "bcast",
    .name = "two_level_shared",
    .source = "Graham, Shipman, EuroPVM/MPI 2008",
    .cost = "(n + q) (α + βm/q), n nodes, q segments",
    .restrictions = {.topology = true},
    .parameters = {{"segment_bytes", 32768, 0, "bytes of a segment; 0 sends the message whole"},
                   {"window_segments", 8, 1, "segments that a node's shared memory holds"}},
    .aliases = {},
    .rounds = [](const Shape& shape) { return Broadcast(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { Broadcast(shape).round(rank, k, steps); },
    .window = [](const Shape& shape) { return Broadcast(shape).window(); },
    .claims = {.most_leaving_node = [](const Shape& shape) -> std::int64_t {
        return shape.topology->nodes() > 1 ? shape.count : 0;
    }},
}};

}  // namespace
}  // namespace timpani::bcast_two_level_shared
