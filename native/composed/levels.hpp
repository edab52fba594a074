#pragma once

#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/topology.hpp"

namespace timpani {

/// A hierarchy over ranks: nodes, groups of nodes between those and the whole where `by_group`; and how the leaders of
/// all nodes are reached: by a communicator of their own, or by messages between them and the root.
struct Shape {
    std::string_view name;
    bool by_group;
    bool by_messages;
};

/// The shapes that the study hierarchical-collectives compares: its types I, II and III; and its type IV's, which is
/// none.
namespace shapes {
constexpr Shape three_level{"three_level", true, false};
constexpr Shape two_level{"two_level", false, false};
constexpr Shape two_level_linear{"two_level_linear", false, true};
constexpr Shape scatters{};
}  // namespace shapes

/// What one rank has to do with one level of a hierarchy. A member speaks for some ranks, which it leads: for itself at
/// the level of nodes, for those of its node, or group, above it. All empty where the rank is no member.
struct Level {
    /// A number that the level's other communicators don't have, and the ranks of this one. The first leads all for
    /// whom the members speak; with the root among them it is the root. The others follow in rank order, round to the
    /// beginning.
    int colour = 0;
    std::vector<int> members;
    /// Elements of the blocks that each member speaks for, `count` a rank, and where they lie, side by side.
    std::vector<int> counts;
    std::vector<int> displacements;
    int own_count = 0;

    [[nodiscard]] bool joined_by_me() const { return !members.empty(); }
    [[nodiscard]] bool led_by(int rank) const { return !members.empty() && members.front() == rank; }
    /// Elements of all for whom the members speak.
    [[nodiscard]] int elements() const { return displacements.back() + counts.back(); }
    [[nodiscard]] bool even() const;
};

/// A hierarchy as one rank sees it.
struct Levels {
    std::vector<Level> levels;  // of nodes first, the root's last
    std::vector<int> order;     // all ranks, in the order in which their blocks lie at the last level
};

/// `args` has a topology, and its count and all that follows from it fits an int.
Levels levels_of(const CollectiveArguments& args, int rank, const Shape& shape);

}  // namespace timpani
