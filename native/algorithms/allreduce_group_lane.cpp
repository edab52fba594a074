// Allreduce over lanes at three levels, for groups behind links that are dearer than those of nodes: the ranks of a
// node put their vectors together, each lane's part at the lane's rank; the lane's ranks in a group do so with that
// part, each node's own at its rank; which reduces it round a ring of the groups; and what it comes to goes back the
// same way. No element crosses between groups more often than a ring of groups needs. Segments follow each other: each
// is on its way as soon as it is put together. The operator must commute.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/direct_exchange.hpp"
#include "schedule/lanes.hpp"
#include "schedule/ring_allreduce.hpp"
#include "schedule/sub_collective.hpp"

namespace timpani::allreduce_group_lane {
namespace {

/// One rank's place among the ranks of its node, the nodes of its group, and the groups.
struct Place {
    const Hierarchy& hierarchy;
    int node;          // its number in the topology
    int group_number;  // likewise
    int lane;          // where there are so many
    int ranks;         // on the node
    int column;        // where there are so many
    int nodes;         // in the group
    int group;         // from the root's on

    Place(const Hierarchy& all, int rank)
        : hierarchy(all),
          node(hierarchy.topology().node_of(rank)),
          group_number(hierarchy.topology().group_of(node)),
          lane(hierarchy.local_rank(rank)),
          ranks(hierarchy.ranks_on(node)),
          column(hierarchy.index_in_group(node)),
          nodes(hierarchy.nodes_in(group_number)),
          group(hierarchy.index_of_group(group_number)) {}

    [[nodiscard]] auto on_node() const {
        return [this](int place) { return hierarchy.rank_at(node, place); };
    }
    [[nodiscard]] auto in_group() const {
        return [this](int place) { return hierarchy.rank_at(hierarchy.node_at(group_number, place), lane); };
    }
    [[nodiscard]] auto among_groups() const {
        return
            [this](int place) { return hierarchy.rank_at(hierarchy.node_at(hierarchy.group_at(place), column), lane); };
    }
};

/// Nodes at one place of their groups are a column; there are no more than the smallest group has nodes. A segment is
/// cut into a part for each lane, that into a part for each column, and that, by the ring, into one for each group.
class Allreduce {
  public:
    explicit Allreduce(const Shape& shape)
        : shape_(shape),
          lanes_(shape, shape.parameters[1]),
          groups_(shape.topology->groups()),
          columns_(shape.topology->nodes()) {
        for (int group = 0; group < groups_; ++group) columns_ = std::min(columns_, lanes_.hierarchy.nodes_in(group));
        segments_ = Segments::of(shape, shape.parameters[0] * lanes_.number * columns_);
        const Region first = segments_.region(Buffer::send, 0);
        longest_part_ = lanes_.part(first, 0).count;
        longest_cell_ = column_part({Buffer::send, 0, longest_part_}, 0).count;
        ring_rounds_ = ring(0).rounds();
    }

    [[nodiscard]] std::int64_t rounds() const { return segments_.number() * rounds_of_segment(); }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const Place mine(lanes_.hierarchy, rank);
        const std::int64_t segment = k / rounds_of_segment();
        const std::int64_t step = k % rounds_of_segment();
        if (step == 0) return bring_to_lanes(mine, segment, steps);
        if (step == rounds_of_segment() - 1) {
            const auto part = [&](int lane) { return part_of_lane(Buffer::receive, segment, lane); };
            return direct_allgather(mine.lane, mine.ranks, lanes_.number, mine.on_node(), part, steps);
        }
        if (mine.lane >= lanes_.number) return;
        if (step == 1) return bring_to_columns(mine, segment, steps);
        if (step == rounds_of_segment() - 2) {
            const auto part = [&](int column) { return cell(segment, mine.lane, column); };
            return direct_allgather(mine.column, mine.nodes, columns_, mine.in_group(), part, steps);
        }
        if (mine.column < columns_) pass_round(mine, segment, step - 2, steps);
    }

    /// For each segment, a lane's part from each rank of the node, and a column's part of that from each of its group.
    [[nodiscard]] std::int64_t scratch(int rank) const {
        const Place mine(lanes_.hierarchy, rank);
        if (mine.lane >= lanes_.number) return 0;
        const std::int64_t of_columns = mine.column < columns_ ? mine.nodes * longest_cell_ : 0;
        return segments_.number() * (mine.ranks * longest_part_ + of_columns);
    }

    /// What is not a node's own part leaves it once on the way up, its own once for each other node of the group on the
    /// way down, and between them round the ring.
    [[nodiscard]] std::int64_t most_leaving_node() const {
        std::int64_t most = 0;
        for (int node = 0; node < shape_.topology->nodes(); ++node) {
            const Place place(lanes_.hierarchy, shape_.topology->ranks_of(node).front());
            std::int64_t leaving = 0;
            for_each_cell([&](int column, std::int64_t count) {
                leaving += column == place.column
                               ? (place.nodes - 1) * count + ring_elements_sent(count, groups_, place.group)
                               : count;
            });
            most = std::max(most, leaving);
        }
        return most;
    }

    /// All of it, round the ring of groups.
    [[nodiscard]] std::int64_t most_leaving_group() const {
        std::int64_t most = 0;
        for (int group = 0; group < groups_; ++group) {
            std::int64_t leaving = 0;
            for_each_cell([&](int, std::int64_t count) { leaving += ring_elements_sent(count, groups_, group); });
            most = std::max(most, leaving);
        }
        return most;
    }

  private:
    /// Two rounds in which parts come together, the ring, and two in which results go out.
    [[nodiscard]] std::int64_t rounds_of_segment() const { return ring_rounds_ + 4; }
    [[nodiscard]] SubCollective ring(std::int64_t count) const {
        Shape inside = shape_;
        inside.ranks = groups_;
        inside.count = count;
        inside.topology = nullptr;
        return {"allreduce", "ring", inside};
    }

    [[nodiscard]] Region part_of_lane(Buffer buffer, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(buffer, segment), lane);
    }
    [[nodiscard]] Region column_part(const Region& whole, int column) const {
        const Part part = part_of(whole.count, columns_, column);
        return {whole.buffer, whole.first + part.first, part.count};
    }
    /// Where the result of a lane's and a column's part lies.
    [[nodiscard]] Region cell(std::int64_t segment, int lane, int column) const {
        return column_part(part_of_lane(Buffer::receive, segment, lane), column);
    }
    template <typename Each>
    void for_each_cell(const Each& each) const {
        for (std::int64_t segment = 0; segment < segments_.number(); ++segment) {
            for (int lane = 0; lane < lanes_.number; ++lane) {
                for (int column = 0; column < columns_; ++column) each(column, cell(segment, lane, column).count);
            }
        }
    }

    /// Where a lane's rank keeps the part of the rank at `place` of its node; the sum of all in its own.
    [[nodiscard]] Region from_node(const Place& mine, std::int64_t segment, int place) const {
        return {Buffer::scratch, (segment * mine.ranks + place) * longest_part_,
                part_of_lane(Buffer::scratch, segment, mine.lane).count};
    }
    /// Where a column's rank keeps the part of the node at `place` of its group.
    [[nodiscard]] Region from_group(const Place& mine, std::int64_t segment, int place) const {
        const std::int64_t begins = segments_.number() * mine.ranks * longest_part_;
        return {Buffer::scratch, begins + (segment * mine.nodes + place) * longest_cell_,
                cell(segment, mine.lane, mine.column).count};
    }

    void bring_to_lanes(const Place& mine, std::int64_t segment, Steps& steps) const {
        const auto part = [&](int lane) { return part_of_lane(Buffer::send, segment, lane); };
        const auto aside = [&](int place) { return from_node(mine, segment, place); };
        if (mine.lane < lanes_.number) steps.copy(part(mine.lane), aside(mine.lane));
        direct_reduce_scatter(mine.lane, mine.ranks, lanes_.number, mine.on_node(), part, aside, steps);
    }

    void bring_to_columns(const Place& mine, std::int64_t segment, Steps& steps) const {
        const Region sum = from_node(mine, segment, mine.lane);
        for (int place = 0; place < mine.ranks; ++place) {
            if (place != mine.lane) steps.reduce(from_node(mine, segment, place), sum);
        }
        const auto part = [&](int column) { return column_part(sum, column); };
        const auto aside = [&](int place) { return from_group(mine, segment, place); };
        direct_reduce_scatter(mine.column, mine.nodes, columns_, mine.in_group(), part, aside, steps);
    }

    void pass_round(const Place& mine, std::int64_t segment, std::int64_t step, Steps& steps) const {
        const Region sum = column_part(from_node(mine, segment, mine.lane), mine.column);
        if (step == 0) {
            for (int place = 0; place < mine.nodes; ++place) {
                if (place != mine.column) steps.reduce(from_group(mine, segment, place), sum);
            }
        }
        const Region result = cell(segment, mine.lane, mine.column);
        const SubCollective::Buffers buffers{
            {{sum.buffer, sum.first}, {result.buffer, result.first}, {Buffer::scratch, 0}}};
        ring(result.count).round(mine.group, step, buffers, mine.among_groups(), steps);
    }

    const Shape& shape_;
    Lanes lanes_;
    int groups_;
    int columns_;
    Segments segments_{};
    std::int64_t longest_part_ = 0;
    std::int64_t longest_cell_ = 0;
    std::int64_t ring_rounds_ = 0;
};

const Register entry{{
    .collective = "allreduce",
    .name = "group_lane",
    .source = "Träff, Hunold, CLUSTER 2020, at each level",
    .cost = "(2g + 2) α + 2 (g−1)/g βm, g groups, m leaving a group",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {kLaneSegments, kLanes},
    .aliases = {},
    .rounds = [](const Shape& shape) { return Allreduce(shape).rounds(); },
    .round = [](const Shape& shape, int rank, std::int64_t k, Steps& steps) { Allreduce(shape).round(rank, k, steps); },
    .scratch = [](const Shape& shape, int rank) { return Allreduce(shape).scratch(rank); },
    .claims = {.most_leaving_node = [](const Shape& shape) { return Allreduce(shape).most_leaving_node(); },
               .most_leaving_group = [](const Shape& shape) { return Allreduce(shape).most_leaving_group(); }},
}};

}  // namespace
}  // namespace timpani::allreduce_group_lane
