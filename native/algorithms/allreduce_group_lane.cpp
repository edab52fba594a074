// Allreduce in lanes (schedule/patterns/lanes.hpp) at three levels, in segments, for groups of nodes behind links that
// cost more than a node's link:
// 1. a direct reduce-scatter inside each node,
// 2. another among the nodes of each group,
// 3. a ring allreduce between the groups,
// 4. direct allgathers back inside each group and each node.
// No element crosses between groups more often than a ring of groups needs. Each segment leaves as soon as it is
// reduced, without waiting for the one before. The operator must commute.

#include <algorithm>

#include "schedule/algorithm.hpp"
#include "schedule/patterns/direct_exchange.hpp"
#include "schedule/patterns/lanes.hpp"
#include "schedule/patterns/ring_allreduce.hpp"
#include "schedule/sub_collective.hpp"

namespace timpani::allreduce_group_lane {
namespace {

/// The position of a rank: in its node, of its node in its group, and of its group among all.
struct Place {
    const Hierarchy& hierarchy;
    int node;          // Number in the topology.
    int group_number;  // Number in the topology.
    int lane;          // Local rank, which is its lane if it has one.
    int ranks;         // on the node
    int column;        // the node's index in its group, which is its column if it has one.
    int nodes;         // in the group
    int group;         // the group's index, counted from the root's group

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
        return [this](int local) { return hierarchy.rank_at(node, local); };
    }
    [[nodiscard]] auto in_group() const {
        return [this](int index) { return hierarchy.rank_at(hierarchy.node_at(group_number, index), lane); };
    }
    [[nodiscard]] auto among_groups() const {
        return
            [this](int index) { return hierarchy.rank_at(hierarchy.node_at(hierarchy.group_at(index), column), lane); };
    }
};

/// Column c is the nodes with index c of each group; the smallest group limits the number of columns. A segment is
/// divided into one part per lane, a part into one cell per column, and the ring divides a cell into one piece per
/// group.
class Allreduce {
  public:
    explicit Allreduce(const CollectiveArguments& args)
        : args_(args),
          lanes_(args, args.parameters[1]),
          groups_(args.topology->groups()),
          columns_(args.topology->nodes()) {
        for (int group = 0; group < groups_; ++group) columns_ = std::min(columns_, lanes_.hierarchy.nodes_in(group));
        segments_ = Segments::of(args, args.parameters[0] * lanes_.number * columns_);
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
        if (step == 0) return reduce_scatter_on_node(mine, segment, steps);
        if (step == rounds_of_segment() - 1) {
            const auto part = [&](int lane) { return part_of_lane(Buffer::receive, segment, lane); };
            return direct_allgather(mine.lane, mine.ranks, lanes_.number, mine.on_node(), part, steps);
        }
        if (mine.lane >= lanes_.number) return;
        if (step == 1) return reduce_scatter_in_group(mine, segment, steps);
        if (step == rounds_of_segment() - 2) {
            const auto part = [&](int column) { return cell(segment, mine.lane, column); };
            return direct_allgather(mine.column, mine.nodes, columns_, mine.in_group(), part, steps);
        }
        if (mine.column < columns_) ring_between_groups(mine, segment, step - 2, steps);
    }

    /// For each segment, a lane's part from each rank of the node, and a cell from each node of the group.
    [[nodiscard]] std::int64_t scratch(int rank) const {
        const Place mine(lanes_.hierarchy, rank);
        if (mine.lane >= lanes_.number) return 0;
        const std::int64_t of_columns = mine.column < columns_ ? mine.nodes * longest_cell_ : 0;
        return segments_.number() * (mine.ranks * longest_part_ + of_columns);
    }

    /// Cells of other columns leave a node once, in the reduce-scatter. The node's own cell leaves it for the ring and,
    /// in the allgather, for each other node of the group.
    [[nodiscard]] std::int64_t max_leaving_node() const {
        std::int64_t maximum = 0;
        for (int node = 0; node < args_.topology->nodes(); ++node) {
            const Place place(lanes_.hierarchy, args_.topology->ranks_of(node).front());
            std::int64_t leaving = 0;
            for_each_cell([&](int column, std::int64_t count) {
                leaving += column == place.column
                               ? (place.nodes - 1) * count + ring_elements_sent(count, groups_, place.group)
                               : count;
            });
            maximum = std::max(maximum, leaving);
        }
        return maximum;
    }

    /// All cells, around the ring of groups.
    [[nodiscard]] std::int64_t max_leaving_group() const {
        std::int64_t maximum = 0;
        for (int group = 0; group < groups_; ++group) {
            std::int64_t leaving = 0;
            for_each_cell([&](int, std::int64_t count) { leaving += ring_elements_sent(count, groups_, group); });
            maximum = std::max(maximum, leaving);
        }
        return maximum;
    }

  private:
    /// Two reduce-scatters, the ring, and two allgathers.
    [[nodiscard]] std::int64_t rounds_of_segment() const { return ring_rounds_ + 4; }
    [[nodiscard]] SubCollective ring(std::int64_t count) const { return {ring_, args_, groups_, count}; }

    [[nodiscard]] Region part_of_lane(Buffer buffer, std::int64_t segment, int lane) const {
        return lanes_.part(segments_.region(buffer, segment), lane);
    }
    [[nodiscard]] Region column_part(const Region& whole, int column) const {
        return region(whole, part_of(whole.count, columns_, column));
    }
    /// Where the result of the cell of a lane and column is.
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

    /// Where a lane's rank receives its part from the rank at `local` of its node. It reduces all of them in its own
    /// place.
    [[nodiscard]] Region from_node(const Place& mine, std::int64_t segment, int local) const {
        return {Buffer::scratch, (segment * mine.ranks + local) * longest_part_,
                part_of_lane(Buffer::scratch, segment, mine.lane).count};
    }
    /// Where a column's rank receives its cell from the node with that index in the group.
    [[nodiscard]] Region from_group(const Place& mine, std::int64_t segment, int index) const {
        const std::int64_t begins = segments_.number() * mine.ranks * longest_part_;
        return {Buffer::scratch, begins + (segment * mine.nodes + index) * longest_cell_,
                cell(segment, mine.lane, mine.column).count};
    }

    void reduce_scatter_on_node(const Place& mine, std::int64_t segment, Steps& steps) const {
        const auto part = [&](int lane) { return part_of_lane(Buffer::send, segment, lane); };
        const auto contribution = [&](int local) { return from_node(mine, segment, local); };
        if (mine.lane < lanes_.number) steps.copy(part(mine.lane), contribution(mine.lane));
        direct_reduce_scatter(mine.lane, mine.ranks, lanes_.number, mine.on_node(), part, contribution, steps);
    }

    void reduce_scatter_in_group(const Place& mine, std::int64_t segment, Steps& steps) const {
        const Region sum = from_node(mine, segment, mine.lane);
        for (int local = 0; local < mine.ranks; ++local) {
            if (local != mine.lane) steps.reduce(from_node(mine, segment, local), sum);
        }
        const auto part = [&](int column) { return column_part(sum, column); };
        const auto contribution = [&](int index) { return from_group(mine, segment, index); };
        direct_reduce_scatter(mine.column, mine.nodes, columns_, mine.in_group(), part, contribution, steps);
    }

    void ring_between_groups(const Place& mine, std::int64_t segment, std::int64_t step, Steps& steps) const {
        const Region sum = column_part(from_node(mine, segment, mine.lane), mine.column);
        if (step == 0) {
            for (int index = 0; index < mine.nodes; ++index) {
                if (index != mine.column) steps.reduce(from_group(mine, segment, index), sum);
            }
        }
        const Region result = cell(segment, mine.lane, mine.column);
        ring(result.count).round(mine.group, step, {sum, result, {Buffer::scratch}}, mine.among_groups(), steps);
    }

    const CollectiveArguments& args_;
    Lanes lanes_;
    int groups_;
    int columns_;
    Segments segments_{};
    std::int64_t longest_part_ = 0;
    std::int64_t longest_cell_ = 0;
    const Algorithm& ring_ = inner_algorithm("allreduce", "ring");
    std::int64_t ring_rounds_ = 0;
};

const Register entry{{
    .collective = "allreduce",
    .name = "group_lane",
    .source = "Träff, Hunold, CLUSTER 2020, at each level",
    .cost = "(2g + 2) α + 2 (g−1)/g βm, g groups, m leaving a group",
    .restrictions = {.commutative = true, .topology = true},
    .parameters = {kLaneSegments, kLanes},
    .prepare = prepared<Allreduce>,
    .scratch = [](const CollectiveArguments& args, int rank) { return Allreduce(args).scratch(rank); },
    .claims = {
        .max_leaving_node = [](const CollectiveArguments& args) { return Allreduce(args).max_leaving_node(); },
        .max_leaving_group = [](const CollectiveArguments& args) { return Allreduce(args).max_leaving_group(); }},
}};

}  // namespace
}  // namespace timpani::allreduce_group_lane
