#pragma once

#include <algorithm>
#include <cstdint>

#include "collectives/collective.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/arithmetic.hpp"

namespace timpani {

// Trees over ranks counted from the root, which is 0. The functions return −1 for a missing parent or child.

/// The parent of a rank is that rank with its lowest nonzero digit to base `radix` cleared, so a subtree is a range of
/// consecutive ranks. Radix 2 gives a binomial tree. A rank receives from its parent in one round. Then it sends to one
/// child per round, those with the largest subtrees first.
struct KnomialTree {
    int ranks;
    std::int64_t radix;

    /// Rounds until the last rank has received.
    [[nodiscard]] constexpr std::int64_t rounds() const {
        return ranks == 1 ? 0 : first_children() + (digits() - 1) * (radix - 1);
    }
    [[nodiscard]] constexpr int parent(int rank) const {
        return rank == 0 ? -1 : static_cast<int>(rank - rank % (reach(rank) * radix));
    }
    /// The subtree of `rank` is [rank, end).
    [[nodiscard]] constexpr int end(int rank) const {
        return static_cast<int>(std::min<std::int64_t>(ranks, rank + reach(rank)));
    }
    /// The round in which `rank` receives from its parent, and the child that it sends to in a round.
    [[nodiscard]] constexpr std::int64_t round_of(int rank) const {
        if (rank == 0) return -1;
        const std::int64_t distance = reach(rank);
        const std::int64_t digit = rank / distance % radix;
        const int lower = digits() - 1 - ceil_log(distance, radix);
        return digit - 1 + (lower == 0 ? 0 : first_children() + (lower - 1) * (radix - 1));
    }
    [[nodiscard]] constexpr int child(int rank, std::int64_t round) const {
        const std::int64_t after = round - first_children();
        const std::int64_t lower = after < 0 ? 0 : 1 + after / (radix - 1);
        const std::int64_t digit = after < 0 ? 1 + round : 1 + after % (radix - 1);
        const std::int64_t distance = power(radix, static_cast<int>(digits() - 1 - lower));
        const std::int64_t child = rank + digit * distance;
        return distance < reach(rank) && child < ranks ? static_cast<int>(child) : -1;
    }

  private:
    /// The place value of the lowest nonzero digit. The root's subtree is larger than all ranks.
    [[nodiscard]] constexpr std::int64_t reach(int rank) const {
        if (radix == 2) return rank == 0 ? power(2, digits()) : rank & -rank;
        std::int64_t value = 1;
        while (value < ranks && rank % (value * radix) == 0) value *= radix;
        return value;
    }
    [[nodiscard]] constexpr int digits() const { return ceil_log(ranks, radix); }
    /// The number of the root's children that differ in the highest digit; it can be less than radix − 1.
    [[nodiscard]] constexpr std::int64_t first_children() const { return (ranks - 1) / power(radix, digits() - 1); }
};

/// Level l has the 2ˡ ranks from 2ˡ − 1 on. The children of a rank in it are 2ˡ and 2·2ˡ further. So all odd ranks are
/// on one side of the root and all even ones on the other, with 2i − 1 and 2i on the same level.
struct BinaryTree {
    int ranks;

    [[nodiscard]] constexpr int depth(int rank) const { return floor_log2(std::int64_t{rank} + 1); }
    [[nodiscard]] constexpr int height() const { return depth(ranks - 1); }
    [[nodiscard]] constexpr int parent(int rank) const {
        if (rank == 0) return -1;
        const int above = 1 << (depth(rank) - 1);  // ranks on the parent's level
        return above - 1 + (rank - (2 * above - 1)) % above;
    }
    [[nodiscard]] constexpr int child(int rank, int index) const {
        const std::int64_t child = rank + (std::int64_t{index} + 1) * (std::int64_t{1} << depth(rank));
        return index < 2 && child < ranks ? static_cast<int>(child) : -1;
    }
};

/// All ranks except the root form `fanout` chains, or fewer if there are too few ranks. Their lengths differ by at most
/// one. The root is the parent of each chain's first rank.
struct ChainTree {
    int ranks;
    std::int64_t fanout;

    [[nodiscard]] int chains() const { return static_cast<int>(std::min<std::int64_t>(fanout, ranks - 1)); }
    [[nodiscard]] int height() const { return ranks == 1 ? 0 : static_cast<int>(chain(0).count); }
    [[nodiscard]] int depth(int rank) const { return rank == 0 ? 0 : rank - first(rank) + 1; }
    [[nodiscard]] int parent(int rank) const { return rank == 0 ? -1 : rank == first(rank) ? 0 : rank - 1; }
    [[nodiscard]] int child(int rank, int index) const {
        if (rank == 0) return index < chains() ? static_cast<int>(chain(index).first) + 1 : -1;
        return index == 0 && rank + 1 < ranks && parent(rank + 1) == rank ? rank + 1 : -1;
    }

  private:
    [[nodiscard]] Part chain(int index) const { return part_of(ranks - 1, chains(), index); }
    /// The first rank of the chain that `rank` is in.
    [[nodiscard]] int first(int rank) const {
        const std::int64_t longest = chain(0).count;
        const std::int64_t longer = (ranks - 1) - chains() * (longest - 1);  // chains of that length; they come first
        const std::int64_t in_longer = longer * longest;
        const std::int64_t index = rank - 1 < in_longer
                                       ? (rank - 1) / longest
                                       : longer + (rank - 1 - in_longer) / std::max<std::int64_t>(1, longest - 1);
        return static_cast<int>(chain(static_cast<int>(index)).first) + 1;
    }
};

/// A broadcast down `tree`, pipelined in segments. In round k a rank at depth d sends segment k − d to its children
/// while it receives the next segment.
template <class Tree>
class TreeBcast {
  public:
    TreeBcast(const Tree& tree, const Segments& segments, const CollectiveArguments& args)
        : tree_(tree), segments_(segments), args_(args) {}

    [[nodiscard]] std::int64_t rounds() const { return tree_.ranks == 1 ? 0 : tree_.height() + segments_.number() - 1; }

    void round(int rank, std::int64_t k, Steps& steps) const {
        const int me = relative_rank(args_, rank);
        const auto segment = [&](std::int64_t index) { return segments_.region(data_of(args_, rank), index); };
        const std::int64_t outgoing = k - tree_.depth(me);
        if (me > 0 && segments_.has(outgoing + 1)) {
            steps.receive(absolute_rank(args_, tree_.parent(me)), segment(outgoing + 1));
        }
        if (!segments_.has(outgoing)) return;
        for (int i = 0, child = 0; (child = tree_.child(me, i)) >= 0; ++i) {
            steps.send(absolute_rank(args_, child), segment(outgoing));
        }
    }

    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const {
        const std::int64_t depth = tree_.depth(relative_rank(args_, rank));
        return k < depth + segments_.number() ? std::max(k, depth - 1) : rounds();
    }

  private:
    Tree tree_;
    Segments segments_;
    const CollectiveArguments& args_;
};

}  // namespace timpani
