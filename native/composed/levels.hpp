#pragma once

#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/topology.hpp"

namespace timpani {

/// A hierarchy over ranks: nodes and, with `by_group`, groups of nodes between the nodes and the whole. It also sets
/// how data reaches the leaders of all nodes: over a separate communicator, or by messages between them and the root.
struct Shape {
    std::string_view name;
    bool by_group;
    bool by_messages;
};

/// The shapes that the study hierarchical-collectives compares: its types I, II and III. Its type IV has no shape.
namespace shapes {
constexpr Shape three_level{"three_level", true, false};
constexpr Shape two_level{"two_level", false, false};
constexpr Shape two_level_linear{"two_level_linear", false, true};
constexpr Shape scatters{};
}  // namespace shapes

/// The role of one rank at one level of a hierarchy. A member leads some ranks: only itself at the level of nodes, its
/// node's or group's ranks above it. All members are empty if the rank is not a member.
struct Level {
    /// A number that differs from those of the level's other communicators, and the ranks of this one. The first rank
    /// leads all ranks that the members lead. If the root is among them, it is the root. The others follow in rank
    /// order and wrap around.
    int color = 0;
    std::vector<int> members;
    /// Elements of the blocks that each member holds, `count` per rank, and where they lie, one after another.
    std::vector<int> counts;
    std::vector<int> displacements;
    int own_count = 0;

    [[nodiscard]] bool joined_by_me() const { return !members.empty(); }
    [[nodiscard]] bool led_by(int rank) const { return !members.empty() && members.front() == rank; }
    /// Elements of all ranks that the members lead.
    [[nodiscard]] int elements() const { return displacements.back() + counts.back(); }
    [[nodiscard]] bool even() const;
};

/// A hierarchy as one rank sees it.
struct Levels {
    std::vector<Level> levels;  // the level of nodes first, the root's last
    std::vector<int> order;     // all ranks, in the order of their blocks at the last level
};

/// `args` has a topology. An int must hold its count and all numbers derived from it.
Levels levels_of(const CollectiveArguments& args, int rank, const Shape& shape);

}  // namespace timpani
