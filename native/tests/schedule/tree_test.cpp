#include "schedule/patterns/tree.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "tests/check.hpp"

namespace {

using namespace timpani;

constexpr int kMaxRanks = 100;

/// Whether each rank except the root is the child of exactly one rank, its parent.
template <class Tree>
void check_tree(const Tree& tree, const std::vector<std::vector<int>>& children) {
    std::set<int> reached{0};
    for (int rank = 0; rank < tree.ranks; ++rank) {
        for (const int child : children[static_cast<std::size_t>(rank)]) {
            CHECK(tree.parent(child) == rank);
            CHECK(reached.insert(child).second);
        }
    }
    CHECK(tree.parent(0) == -1);
    CHECK(reached.size() == static_cast<std::size_t>(tree.ranks));
}

template <class Tree>
void check_levels(const Tree& tree) {
    std::vector<std::vector<int>> children(static_cast<std::size_t>(tree.ranks));
    int height = 0;
    for (int rank = 0; rank < tree.ranks; ++rank) {
        for (int i = 0, child = 0; (child = tree.child(rank, i)) >= 0; ++i) {
            children[static_cast<std::size_t>(rank)].push_back(child);
            CHECK(tree.depth(child) == tree.depth(rank) + 1);
        }
        height = std::max(height, tree.depth(rank));
    }
    check_tree(tree, children);
    CHECK(tree.height() == height);
}

}  // namespace

TEST(knomial_tree_reaches_each_rank_once_after_its_parent) {
    for (int ranks = 1; ranks <= kMaxRanks; ++ranks) {
        for (const std::int64_t radix : {2, 3, 4, 8, 200}) {
            const KnomialTree tree{ranks, radix};
            std::vector<std::vector<int>> children(static_cast<std::size_t>(ranks));
            for (int rank = 0; rank < ranks; ++rank) {
                for (std::int64_t round = 0; round < tree.rounds(); ++round) {
                    const int child = tree.child(rank, round);
                    if (child < 0) continue;
                    children[static_cast<std::size_t>(rank)].push_back(child);
                    CHECK(tree.round_of(child) == round);
                    CHECK(tree.round_of(rank) < round);
                    CHECK(child > rank && tree.end(child) <= tree.end(rank));
                }
            }
            check_tree(tree, children);
        }
    }
}

TEST(no_round_of_a_knomial_tree_is_idle) {
    for (int ranks = 2; ranks <= kMaxRanks; ++ranks) {
        for (const std::int64_t radix : {2, 3, 4, 8, 200}) {
            const KnomialTree tree{ranks, radix};
            for (std::int64_t round = 0; round < tree.rounds(); ++round) CHECK(tree.child(0, round) > 0);
        }
    }
}

TEST(binary_tree_reaches_each_rank_once_with_odd_ranks_on_one_side) {
    for (int ranks = 1; ranks <= kMaxRanks; ++ranks) {
        const BinaryTree tree{ranks};
        check_levels(tree);
        for (int rank = 3; rank < ranks; ++rank) CHECK(tree.parent(rank) % 2 == rank % 2);
    }
}

TEST(chains_reach_each_rank_once_and_are_of_even_length) {
    for (int ranks = 1; ranks <= kMaxRanks; ++ranks) {
        for (const std::int64_t fanout : {1, 2, 4, 7, 200}) {
            const ChainTree tree{ranks, fanout};
            check_levels(tree);
            CHECK(tree.height() == (ranks - 1 + std::min<std::int64_t>(fanout, std::max(1, ranks - 1)) - 1) /
                                       std::min<std::int64_t>(fanout, std::max(1, ranks - 1)));
        }
    }
}
