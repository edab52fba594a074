#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/blocks.hpp"
#include "schedule/patterns/topology_tree.hpp"

namespace timpani {

/// Gather and scatter along the tree of a hierarchy. A rank and its parent exchange the blocks of the rank's subtree:
/// its own first, then the blocks of one child's subtree after another. An inner rank keeps them in scratch in that
/// order. The root has them in its buffer in rank order. If a child's subtree is not a range of consecutive ranks, the
/// root copies its blocks to or from scratch.
class BlocksAlongTree {
  public:
    /// `up`: a gather, else a scatter.
    BlocksAlongTree(const CollectiveArguments& args, const TreeKinds& kinds, bool up)
        : args_(args), tree_(args, kinds), up_(up) {}

    [[nodiscard]] std::int64_t rounds() const { return tree_.height() + 1; }

    /// A rank receives the blocks of its subtree in the round before it sends them.
    void round(int rank, std::int64_t k, Steps& steps) const {
        const std::int64_t round_sent = this->round_sent(rank);
        if (k != round_sent - 1 && k != round_sent) return;
        const Subtree mine = subtree(rank);
        const Region own{up_ ? Buffer::send : Buffer::receive, 0, block_of(args_, rank).count};
        if (k == round_sent) {
            up_ ? gather(rank, mine, own, steps) : scatter(rank, mine, own, steps);
        } else if (up_) {
            for (const Branch& branch : mine.branches) steps.receive(branch.child, branch.place);
        } else {
            steps.receive(mine.parent, mine.branches.empty() ? own : Region{Buffer::scratch, 0, mine.elements});
        }
    }

    [[nodiscard]] std::int64_t next_active(int rank, std::int64_t k) const {
        const std::int64_t last = round_sent(rank);
        return k <= last ? std::max(k, last - 1) : rounds();
    }

    [[nodiscard]] std::int64_t scratch(int rank) const {
        const Subtree mine = subtree(rank);
        if (rank != args_.root) return mine.branches.empty() ? 0 : mine.elements;
        std::int64_t maximum = 0;
        for (const Branch& branch : mine.branches) {
            if (branch.place.buffer == Buffer::scratch) maximum = branch.place.end();
        }
        return maximum;
    }

    // Claims for blocks of equal size.
    [[nodiscard]] std::int64_t busy_rounds() const { return tree_.height(); }
    [[nodiscard]] std::int64_t max_neighbors() const { return tree_.max_neighbors(); }
    [[nodiscard]] std::int64_t max_sent() const {
        if (!up_) return (args_.ranks - 1) * args_.count;
        std::int64_t maximum = 0;
        for (int me = 1; me < args_.ranks; ++me) maximum = std::max(maximum, elements_below(me));
        return maximum;
    }
    [[nodiscard]] std::int64_t max_leaving_node() const {
        return tree_.max_leaving_node(up_, [this](int me) { return elements_below(me); });
    }

  private:
    struct Branch {
        int child;
        std::vector<int> ranks;  // of the child's subtree, in the order in which their blocks are sent
        Region place;
    };
    struct Subtree {
        int me;
        int parent;
        std::vector<Branch> branches;
        std::int64_t elements;
    };

    /// The ranks of the subtree of `me`, counted from the root, in the order in which their blocks are sent.
    [[nodiscard]] std::vector<int> members(int me) const {
        std::vector<int> all{me};
        for (int i = 0, child = 0; (child = tree_.child(me, i)) >= 0; ++i) {
            const auto below = members(child);
            all.insert(all.end(), below.begin(), below.end());
        }
        return all;
    }

    [[nodiscard]] Subtree subtree(int rank) const {
        const int me = relative_rank(args_, rank);
        Subtree all{me, me == 0 ? -1 : absolute_rank(args_, tree_.parent(me)), {}, block_of(args_, rank).count};
        std::int64_t in_scratch = rank == args_.root ? 0 : all.elements;
        for (int i = 0, child = 0; (child = tree_.child(me, i)) >= 0; ++i) {
            Branch branch{absolute_rank(args_, child), members(child), {}};
            std::int64_t elements = 0;
            bool consecutive = rank == args_.root;
            for (std::size_t j = 0; j < branch.ranks.size(); ++j) {
                branch.ranks[j] = absolute_rank(args_, branch.ranks[j]);
                elements += block_of(args_, branch.ranks[j]).count;
                consecutive = consecutive && (j == 0 || branch.ranks[j] == branch.ranks[j - 1] + 1);
            }
            if (consecutive) {
                branch.place = {at_root(), block_of(args_, branch.ranks.front()).first, elements};
            } else {
                branch.place = {Buffer::scratch, in_scratch, elements};
                in_scratch += elements;
            }
            all.elements += elements;
            all.branches.push_back(std::move(branch));
        }
        return all;
    }

    /// Where the root has the blocks of a branch in its buffer and in scratch: one pair for each range of consecutive
    /// ranks. Empty if they don't pass through scratch.
    [[nodiscard]] std::vector<std::pair<Part, Region>> moves(const Branch& branch) const {
        std::vector<std::pair<Part, Region>> all;
        if (branch.place.buffer != Buffer::scratch) return all;
        std::int64_t next = branch.place.first;
        for (std::size_t i = 0; i < branch.ranks.size(); ++i) {
            const Part block = block_of(args_, branch.ranks[i]);
            if (i > 0 && branch.ranks[i] == branch.ranks[i - 1] + 1) {
                all.back().first.count += block.count;
                all.back().second.count += block.count;
            } else {
                all.push_back({block, {Buffer::scratch, next, block.count}});
            }
            next += block.count;
        }
        return all;
    }

    void gather(int rank, const Subtree& mine, const Region& own, Steps& steps) const {
        if (rank == args_.root) {
            steps.copy(own, region(Buffer::receive, block_of(args_, rank)));
            for (const Branch& branch : mine.branches) {
                for (const auto& [there, inside] : moves(branch)) steps.copy(inside, region(Buffer::receive, there));
            }
        } else if (mine.branches.empty()) {
            steps.send(mine.parent, own);
        } else {
            steps.copy(own, {Buffer::scratch, 0, own.count});
            steps.send(mine.parent, {Buffer::scratch, 0, mine.elements});
        }
    }

    void scatter(int rank, const Subtree& mine, const Region& own, Steps& steps) const {
        if (rank == args_.root) {
            for (const Branch& branch : mine.branches) {
                for (const auto& [there, inside] : moves(branch)) steps.copy(region(Buffer::send, there), inside);
            }
        }
        for (const Branch& branch : mine.branches) steps.send(branch.child, branch.place);
        if (rank == args_.root) {
            steps.copy(region(Buffer::send, block_of(args_, rank)), own);
        } else if (!mine.branches.empty()) {
            steps.copy({Buffer::scratch, 0, own.count}, own);
        }
    }

    /// The round in which a rank sends blocks to its parent, or to its children.
    [[nodiscard]] std::int64_t round_sent(int rank) const {
        const int depth = tree_.depth(relative_rank(args_, rank));
        return up_ ? tree_.height() - depth : depth;
    }
    /// The root's buffer for the gathered or scattered blocks.
    [[nodiscard]] Buffer at_root() const { return up_ ? Buffer::receive : Buffer::send; }
    /// Elements of the subtree of `me` if all blocks are equal.
    [[nodiscard]] std::int64_t elements_below(int me) const {
        return static_cast<std::int64_t>(members(me).size()) * args_.count;
    }

    const CollectiveArguments& args_;
    TopologyTree tree_;
    bool up_;
};

/// The functions that the algorithms register, with one tree kind per level.
template <bool up, const TreeKinds& kinds>
struct HierarchicalBlocks {
    static BlocksAlongTree blocks(const CollectiveArguments& args) { return {args, kinds, up}; }
    static constexpr auto prepare = prepared_by<blocks>;
    static std::int64_t scratch(const CollectiveArguments& args, int rank) { return blocks(args).scratch(rank); }

    static constexpr Claims claims{
        .rounds = [](const CollectiveArguments& args) { return blocks(args).busy_rounds(); },
        .max_sent = [](const CollectiveArguments& args) { return blocks(args).max_sent(); },
        .max_neighbors = [](const CollectiveArguments& args) { return blocks(args).max_neighbors(); },
        .max_leaving_node = [](const CollectiveArguments& args) { return blocks(args).max_leaving_node(); }};
};

}  // namespace timpani
