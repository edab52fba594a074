"""Trees are read back from the sums that they give, and sums of no tree are recognized."""

from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from itertools import combinations
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timpani.order.tree import (
    SummationTree,
    UnreadableError,
    depth,
    evaluate,
    in_rank_order,
    ranks_of,
    read_tree,
    show,
    sum_of,
)

LARGE = 2.0**1000


@st.composite
def trees(draw: st.DrawFn, least: int = 2) -> SummationTree:
    parts: list[SummationTree] = list(range(draw(st.integers(least, 14))))
    while len(parts) > 1:
        one = parts.pop(draw(st.integers(0, len(parts) - 1)))
        other = parts.pop(draw(st.integers(0, len(parts) - 1)))
        parts.append(sum_of(one, other))
    return parts[0]


def probed(ranks: int, total: Callable[[list[float]], float]) -> dict[tuple[int, int], int]:
    """What the native program reports of a reduction that computes `total` of the contributions."""
    found = {}
    for plus, minus in combinations(range(ranks), 2):
        contributions = [1.0] * ranks
        contributions[plus], contributions[minus] = LARGE, -LARGE
        with np.errstate(all="ignore"):
            result = float(total(contributions))
        found[plus, minus] = int(result) if 0 <= result <= ranks and result == int(result) else -1
    return found


def added(tree: SummationTree) -> Callable[[list[float]], float]:
    return lambda values: evaluate(tree, lambda rank: values[rank], lambda one, other: one + other)


def leaves(tree: SummationTree) -> int:
    return len(ranks_of(tree))


@given(trees())
def test_a_tree_is_read_back(tree: SummationTree) -> None:
    ranks = leaves(tree)
    assert read_tree(probed(ranks, added(tree)), range(ranks)) == tree


@given(trees(3), st.data())
def test_a_wrong_remainder_gives_another_tree_or_none(tree: SummationTree, data: st.DataObject) -> None:
    ranks = leaves(tree)
    remainders = probed(ranks, added(tree))
    pair = data.draw(st.sampled_from(sorted(remainders)))
    remainders[pair] = data.draw(st.integers(-1, ranks).filter(lambda left: left != remainders[pair]))
    with suppress(UnreadableError):
        assert read_tree(remainders, range(ranks)) != tree


def in_long_double(values: list[float]) -> float:
    return float(sum(map(np.longdouble, values), np.longdouble(0)))


def chain(ranks: int) -> SummationTree:
    tree: SummationTree = 0
    for rank in range(1, ranks):
        tree = sum_of(tree, rank)
    return tree


@pytest.mark.parametrize("ranks", [3, 4, 7])
@pytest.mark.parametrize(
    "total",
    [
        max,
        lambda values: values[0],
        fsum,  # as integers, and accumulators that lose nothing
        lambda values: float(sum(np.float32(value) for value in values)),
        lambda values: fsum(values[:3]) + fsum(values[3:]),  # several numbers in one addition
        lambda values: added(chain(len(values)))([*values[:-1], values[0]]),  # one rank twice, one never
    ],
    ids=["max", "first", "exact", "single", "three at once", "twice"],
)
def test_sums_without_a_tree_are_recognized(total: Callable[[list[float]], float], ranks: int) -> None:
    with pytest.raises(UnreadableError):
        read_tree(probed(ranks, total), range(ranks))


@pytest.mark.parametrize("ranks", [3, 4, 8])
def test_unusual_additions_have_their_true_tree(ranks: int) -> None:
    assert read_tree(probed(ranks, in_long_double), range(ranks)) == chain(ranks)
    fused = probed(ranks, lambda values: reduce(lambda total, value: fsum((1.0 * value, total)), values))
    assert read_tree(fused, range(ranks)) == chain(ranks)
    if ranks % 2 == 0:  # two lanes of a vector unit
        lanes = probed(ranks, lambda values: sum(values[::2]) + sum(values[1::2]))
        even, odd = (added_chain(range(first, ranks, 2)) for first in (0, 1))
        assert read_tree(lanes, range(ranks)) == sum_of(even, odd)


def added_chain(members: range) -> SummationTree:
    tree: SummationTree = members[0]
    for rank in members[1:]:
        tree = sum_of(tree, rank)
    return tree


def test_facts_of_a_tree() -> None:
    butterfly = ((0, 1), (2, 3))
    assert (show(butterfly), depth(butterfly), in_rank_order(butterfly)) == ("((0+1)+(2+3))", 2, True)
    assert (depth(chain(4)), in_rank_order(chain(4))) == (3, True)
    assert not in_rank_order(((0, 2), (1, 3)))
    assert in_rank_order((0, (1, (2, 3))))
