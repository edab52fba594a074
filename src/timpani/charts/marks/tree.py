"""The tree that an algorithm's messages flow along, decided by the messages alone."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

import polars as pl

Edge = tuple[int, int]
"""Who sends, to whom."""


@dataclass(frozen=True)
class Tree:
    """A tree of ranks.

    parents    of every rank but the root
    flow       outward from the root, inward to it, or inward and then back
    exchanged  messages outside the tree, after it: each rank exchanges them with one other only
    """

    root: int
    parents: dict[int, int]
    flow: Literal["outward", "inward", "back"]
    exchanged: frozenset[Edge] = frozenset()

    @classmethod
    def from_edges(cls, edges: Iterable[Edge], flow: Literal["outward", "inward", "back"]) -> Self | None:
        """The tree that these edges are, outward from its root or, `inward` and `back`, to it; if they are one."""
        edges = set(edges)
        parents = dict(edges) if flow != "outward" else {b: a for a, b in edges}
        roots = set(parents.values()) - parents.keys()
        if len(parents) != len(edges) or len(roots) != 1:  # a rank with two parents, or not one root
            return None
        (root,) = roots
        found = cls(root, parents, flow)
        return found if found.is_connected() else None

    def is_connected(self) -> bool:
        """Whether every rank is reached from the root: cycles outside the tree aren't."""
        children = self.children(self.parents)
        reached = {self.root}
        waiting = [self.root]
        while waiting:
            new = children[waiting.pop()]
            reached.update(new)
            waiting.extend(new)
        return len(reached) == len(self.parents) + 1

    def children(self, order: Iterable[int]) -> defaultdict[int, list[int]]:
        """The children of each rank, in the order in which they come in `order`."""
        children: defaultdict[int, list[int]] = defaultdict(list)
        for rank in order:
            children[self.parents[rank]].append(rank)
        return children


def tree_of(messages: pl.DataFrame, root: int = 0) -> Tree | None:
    """The tree that messages (columns `rank`, `peer`, `round`, `bytes`) flow along, if they do.

    A chain, of which either end could be the root, is seen from `root`.

    Either all flow outward, or all inward, or inward first and then back along the same edges. Or they flow outward,
    and in later rounds messages outside the tree go between pairs of ranks. Every rank has then received equally many
    bytes: a part from its parent, and the other from its partner.
    """
    flows = messages.group_by("rank", "peer").agg(pl.min("round").alias("first"), pl.max("round").alias("last"))
    rounds = {(rank, peer): (first, last) for rank, peer, first, last in flows.iter_rows()}
    one_way = [tree for tree in (Tree.from_edges(rounds, "outward"), Tree.from_edges(rounds, "inward")) if tree]
    if one_way:
        return next((tree for tree in one_way if tree.root == root), one_way[0])
    return _there_and_back(rounds) or _exchanging(messages, rounds)


_Rounds = dict[Edge, tuple[int, int]]
"""For each edge the round of its first message and of its last."""


def _there_and_back(rounds: _Rounds) -> Tree | None:
    """The tree of a reduction and a broadcast, say, if on each edge everything comes before all that goes back."""
    if any((b, a) not in rounds for a, b in rounds):
        return None
    first = [(a, b) for a, b in rounds if rounds[a, b][1] < rounds[b, a][0]]
    return Tree.from_edges(first, "back") if 2 * len(first) == len(rounds) else None


def _exchanging(messages: pl.DataFrame, rounds: _Rounds) -> Tree | None:
    """The tree along which each rank first hears, if all messages after it go between pairs."""
    heard = messages.sort("round").unique("peer", keep="first", maintain_order=True)
    along = set(heard.select("rank", "peer").iter_rows())
    other_edges = frozenset(rounds.keys() - along)
    partners: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in other_edges:
        partners[a].add(b)
        partners[b].add(a)
    in_pairs = all(len(others) == 1 for others in partners.values())
    last = max(rounds[edge][1] for edge in along)
    after = all(rounds[edge][0] > last for edge in other_edges)
    received = messages.group_by("peer").agg(pl.sum("bytes"))["bytes"]
    tree = Tree.from_edges(along, "outward")
    if tree is None or not in_pairs or not after or received.n_unique() > 1:
        return None
    return Tree(tree.root, tree.parents, "outward", other_edges)
