"""Summation trees: in which order the contributions of ranks are added, read from sums that show it.

Rank i contributes +M, rank j −M and all others 1, with M + 1 = M. What is left of the sum counts the ranks that are
added after i and j have met (FPRev: Xie, Gao, Wang, Xue, USENIX ATC 2025).
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

SummationTree = int | tuple["SummationTree", "SummationTree"]
"""A rank, or the sum of two trees; the one with the lowest rank comes first, since an addition commutes."""

MAX_RANKS = 256
"""More ranks would take more pairs than anybody waits for."""

UNIT_ROUNDOFF = 2.0**-53
"""Maximum relative error of one addition of doubles."""

Number = TypeVar("Number")


class UnreadableError(Exception):
    """Why no order can be read from sums."""


def sum_of(one: SummationTree, other: SummationTree) -> SummationTree:
    """The tree that adds two."""
    return (one, other) if ranks_of(one)[0] < ranks_of(other)[0] else (other, one)


def tree_of_json(value: object) -> SummationTree:
    """What the verifier prints: a rank, or a list of two."""
    if isinstance(value, int):
        return value
    assert isinstance(value, list)
    one, other = map(tree_of_json, value)
    return (one, other)


def evaluate(
    tree: SummationTree, contribution: Callable[[int], Number], add: Callable[[Number, Number], Number]
) -> Number:
    """The result of adding in the order of a tree."""
    if isinstance(tree, int):
        return contribution(tree)
    return add(evaluate(tree[0], contribution, add), evaluate(tree[1], contribution, add))


def ranks_of(tree: SummationTree) -> tuple[int, ...]:
    """The ranks that it adds; the lowest comes first."""
    return evaluate(tree, lambda rank: (rank,), lambda one, other: one + other)


def depth(tree: SummationTree) -> int:
    """The largest number of additions that a contribution passes through: the factor of the error bound."""

    def add(one: int, other: int) -> int:
        return 1 + max(one, other)

    return evaluate(tree, lambda _: 0, add)


def show(tree: SummationTree) -> str:
    """`((0+1)+2)`."""
    return evaluate(tree, str, lambda one, other: f"({one}+{other})")


def in_rank_order(tree: SummationTree) -> bool:
    """Whether every sum contains consecutive ranks: then only the brackets differ from the order of ranks."""
    spans: list[tuple[int, ...]] = []

    def add(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
        spans.append(tuple(sorted(one + other)))
        return spans[-1]

    evaluate(tree, lambda rank: (rank,), add)
    return all(span[-1] - span[0] == len(span) - 1 for span in spans)


def restricted(tree: SummationTree, ranks: int) -> SummationTree | None:
    """The order in which the first `ranks` ranks are added if all others add zero; None without one of these."""
    if isinstance(tree, int):
        return tree if tree < ranks else None
    one, other = (restricted(side, ranks) for side in tree)
    return sum_of(one, other) if one is not None and other is not None else one if other is None else other


def read_tree(remainders: Mapping[tuple[int, int], int], ranks: Sequence[int]) -> SummationTree:
    """The tree in which `ranks` are added. UnreadableError where what is left for the pairs follows from no tree.

    remainders  by pair (i, j), i < j; −1 is no number of ranks
    """
    size = len(ranks)
    pairs = {pair: remainders[pair] for pair in combinations(ranks, 2)}
    if any(not 0 <= left <= size - 2 for left in pairs.values()):
        raise UnreadableError("a sum is no number of ranks: its elements are not added as doubles")
    if size > 2 and all(left == size - 2 for left in pairs.values()):
        raise UnreadableError("no addition loses the smaller summand: sums are exact, so they have no order")
    place = {rank: number for number, rank in enumerate(ranks)}
    meet = np.zeros((size, size), dtype=np.int64)  # the number of ranks in the smallest sum with both
    for (i, j), left in pairs.items():
        meet[place[i], place[j]] = meet[place[j], place[i]] = size - left
    return _tree(meet, np.arange(size), ranks)


def _tree(meet: NDArray[np.int64], members: NDArray[np.int64], ranks: Sequence[int]) -> SummationTree:
    """The tree of `members`, whose pairs must all meet in it: those of its two sides in the whole, others before."""
    if len(members) == 1:
        return ranks[int(members[0])]
    beside = meet[members[0], members] < len(members)
    one, other = members[beside], members[~beside]
    across = meet[np.ix_(one, other)]
    if not len(other) or (across != len(members)).any():
        raise UnreadableError("no order of additions of two numbers leaves what is left")
    return sum_of(_tree(meet, one, ranks), _tree(meet, other, ranks))
