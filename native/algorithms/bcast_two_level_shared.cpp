// Broadcast over two levels through the memory that a node's ranks share, in segments. Leaders send segments along a
// chain of all nodes, as in two_level_chain of hierarchical_trees.cpp. They receive them in their node's window and
// forward them from there. The leader notifies the other ranks of its node, and they copy each segment out of the
// window.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"
#include "schedule/patterns/closed_forms.hpp"
#include "schedule/patterns/hierarchy.hpp"

namespace timpani::bcast_two_level_shared {
namespace {

class Broadcast {
  public:
    explicit Broadcast(const CollectiveArguments& args)
        : args_(args),
          hierarchy_(args),
          segments_(Segments::of(args, args.parameters[0])),
          slots_(std::min(args.parameters[1], segments_.number())) {}

    [[nodiscard]] std::int64_t rounds() const { return args_.count == 0 ? 0 : hierarchy_.nodes() + segments_.number(); }
    [[nodiscard]] std::int64_t window() const { return slots_ * segments_.length; }

    /// The leader of the node at position a, counted from the root's, receives segment s in round a + s. In the next
    /// round it forwards it, and its node's ranks copy it.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const int node = hierarchy_.topology().node_of(rank);
        const std::int64_t incoming = k - hierarchy_.position_of_node(node);
        if (hierarchy_.local_rank(rank) > 0) {
            // In round 0: this rank has read what an earlier call left in the window.
            if (k == 0) steps.notify(hierarchy_.leader(node));
            if (segments_.has(incoming - 1)) copy_out(rank, node, incoming - 1, steps);
        } else {
            if (segments_.has(incoming - 1)) send_on(rank, node, incoming - 1, steps);
            if (segments_.has(incoming)) receive(rank, node, incoming, steps);
        }
    }

  private:
    [[nodiscard]] bool alone(int node) const { return hierarchy_.ranks_on(node) == 1; }
    [[nodiscard]] Region own(int rank, std::int64_t segment) const {
        return segments_.region(data_of(args_, rank), segment);
    }
    /// The place of a segment in the window, whose slots are filled one after another.
    [[nodiscard]] Region slot(std::int64_t segment) const {
        return {Buffer::window, segment % slots_ * segments_.length, segments_.region(Buffer::window, segment).count};
    }
    /// Where a leader receives a segment and sends it from.
    [[nodiscard]] Region leaders_copy(int rank, int node, std::int64_t segment) const {
        return rank == args_.root || alone(node) ? own(rank, segment) : slot(segment);
    }

    void copy_out(int rank, int node, std::int64_t segment, Steps& steps) const {
        steps.await(hierarchy_.leader(node));
        steps.copy(slot(segment), own(rank, segment));
        if (segments_.has(segment + slots_)) steps.notify(hierarchy_.leader(node));
    }

    void send_on(int rank, int node, std::int64_t segment, Steps& steps) const {
        for (int place = 1; place < hierarchy_.ranks_on(node); ++place) steps.notify(hierarchy_.rank_at(node, place));
        const int next = hierarchy_.position_of_node(node) + 1;
        if (next < hierarchy_.nodes()) {
            steps.send(hierarchy_.leader(hierarchy_.node_at_position(next)), leaders_copy(rank, node, segment));
        }
        if (rank != args_.root && !alone(node)) steps.copy(slot(segment), own(rank, segment));
    }

    /// Fills a slot of the window when all other ranks have read its last segment.
    void receive(int rank, int node, std::int64_t segment, Steps& steps) const {
        for (int place = 1; (segment == 0 || segment >= slots_) && place < hierarchy_.ranks_on(node); ++place) {
            steps.await(hierarchy_.rank_at(node, place));
        }
        if (rank != args_.root) {
            const int before = hierarchy_.position_of_node(node) - 1;
            steps.receive(hierarchy_.leader(hierarchy_.node_at_position(before)), leaders_copy(rank, node, segment));
        } else if (!alone(node)) {
            steps.copy(own(rank, segment), slot(segment));
        }
    }

    const CollectiveArguments& args_;
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
    .parameters = {segment_bytes_parameter(32768),
                   {"window_segments", 8, 1, "segments that a node's shared memory holds"}},
    .prepare = prepared<Broadcast>,
    .window = [](const CollectiveArguments& args) { return Broadcast(args).window(); },
    .claims = {.max_leaving_node = message_to_other_nodes},
}};

}  // namespace
}  // namespace timpani::bcast_two_level_shared
