"""What follows from readings: whether results are reproducible, and what they depend on."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Self

from timpani.order.reading import Reading
from timpani.order.tree import UNIT_ROUNDOFF, depth, in_rank_order, restricted
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_size
from timpani.study.words import counted, listed

Differs = Callable[[Reading, Reading], bool]
"""Whether two readings with different values of something differ in their order."""


@dataclass(frozen=True)
class Reproducibility:
    """Of one algorithm of a collective.

    same_on_all_ranks  None where ranks have different results, or one alone has a result
    depends_on         where the order differs, by what differs there: empty if nowhere, None if it was not compared
    depths             the largest by rank count
    in_rank_order      whether all orders keep the order of ranks
    unreadable         why no order can be read at some cells
    readings           number of the others, on which all else rests
    """

    name: str
    same_on_all_ranks: bool | None
    depends_on: Mapping[str, str | None]
    depths: Mapping[int, int]
    in_rank_order: bool
    unreadable: tuple[str, ...]
    readings: int

    @classmethod
    def of_readings(cls, readings: Sequence[Reading]) -> Self:
        """Of one algorithm's readings."""
        cell = readings[0].cell
        movement = OPERATIONS[cell.collective].movement
        assert movement is not None  # it is a collective
        shared = movement.result == "sum" and (movement.receive.holders, movement.receive.content) == ("all", "vector")
        whole = movement.receive.content == "vector"
        unreadable = tuple(dict.fromkeys(why for each in readings for why in each.distinct if isinstance(why, str)))
        readings = [each for each in readings if each.is_readable]
        first = [each for each in readings if each.launch == 1]
        differing_elements = (
            each.point for each in readings if (max(map(len, each.orders)) if whole else len(each.distinct)) > 1
        )
        depends: dict[str, str | None] = {
            "the message size": _differing_places(first, "message_bytes", _orders_differ),
            "the position in the vector": next(differing_elements, ""),
            "the placement": _differing_places(first, "placement", _orders_differ),
            "the call": next((each.point for each in readings if each.changes), ""),
        }
        if movement.rooted:
            depends["the root"] = _by_launch(readings, lambda each: each.distinct)
            depends |= dict.fromkeys(filter(None, ("the launch", _unread_roots(readings))))
        else:
            depends["the launch"] = _by_launch(readings, lambda each: each.results)
        if movement.result == "sum":
            depends["further ranks that contribute zeros"] = _differing_places(first, "ranks", _further_ranks_differ)
        trees = [(each.cell.ranks, tree) for each in readings for tree in each.trees]
        return cls(
            cell.collective if cell.algorithm.is_default else f"{cell.collective} {cell.algorithm.label}",
            all(len(set(each.results)) == 1 for each in readings) if shared and readings else None,
            depends,
            {ranks: max(depth(tree) for n, tree in trees if n == ranks) for ranks in sorted({n for n, _ in trees})},
            all(in_rank_order(tree) for _, tree in trees),
            unreadable,
            len(readings),
        )

    @property
    def text(self) -> str:
        """In sentences."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        if self.unreadable:
            yield f"{self.name}: the order can't be read: {'; '.join(self.unreadable)}."
        if not self.depths:
            return
        depends = [f"{what} ({where})" for what, where in self.depends_on.items() if where]
        same = f"is the same in {counted(self.readings, 'reading')}"
        yield f"{self.name}: the order of addition {f'depends on {listed(depends)}' if depends else same}."
        if self.same_on_all_ranks is not None:
            yield f"{'All' if self.same_on_all_ranks else 'Not all'} ranks get the same bits."
        if free := [what for what, where in self.depends_on.items() if where == ""]:
            yield f"It showed no dependence on {listed(free)}."
        if unknown := [what for what, where in self.depends_on.items() if where is None]:
            yield f"Not compared: {', '.join(unknown)}."
        ranks, most = max(self.depths.items())
        if most:
            bound = f"{most * UNIT_ROUNDOFF:.1e} times the sum of all magnitudes"
            yield f"On {counted(ranks, 'rank')} its depth is {most}, so that the error is at most about {bound}."
        yield f"It {'keeps' if self.in_rank_order else 'does not keep'} the order of ranks, which MPI calls canonical."


def _orders_differ(one: Reading, other: Reading) -> bool:
    """Whether they differ at a rank that has elements in both: of short vectors some ranks get none."""
    return any(a != b for a, b in zip(one.orders, other.orders, strict=True) if a and b)


def _further_ranks_differ(fewer: Reading, more: Reading) -> bool:
    return {restricted(tree, fewer.cell.ranks) for tree in more.trees} != set(fewer.trees)


def _unread_roots(readings: Sequence[Reading]) -> str:
    """Whether roots were not read, in words; empty if all were."""
    roots = defaultdict[int, set[int]](set)
    for each in readings:
        roots[each.cell.ranks].add(each.root)
    partly = [(ranks, read) for ranks, read in roots.items() if len(read) < ranks]
    if not partly:
        return ""
    ranks, read = max(partly, key=lambda each: each[0])
    return f"roots but {listed([str(each) for each in sorted(read)])} on {counted(ranks, 'rank')}"


def _by_launch(readings: Sequence[Reading], order: Callable[[Reading], object]) -> str | None:
    """Where the `order` of a point's launches differs; None if no point has two."""
    by_cell = defaultdict[object, list[Reading]](list)
    for each in readings:
        by_cell[each.cell].append(each)
    pairs = list(chain.from_iterable(map(pairwise, by_cell.values())))
    return next((one.point for one, other in pairs if order(one) != order(other)), "" if pairs else None)


_VARIED = ("ranks", "placement", "message_bytes")


def _differing_places(readings: Sequence[Reading], varied: str, differ: Differs) -> str | None:
    """Where readings differ that are equal in all of `_VARIED` but one; None without two such readings. The last place
    is named, which has the most ranks."""
    equal = defaultdict[object, list[Reading]](list)
    for each in readings:
        equal[tuple(getattr(each.cell, name) for name in _VARIED if name != varied)].append(each)
    show = show_size if varied == "message_bytes" else str
    found: str | None = None
    for same in equal.values():
        ordered = sorted(((getattr(each.cell, varied), each) for each in same), key=lambda pair: pair[0])
        changes = [
            f"{show(value)} and {show(next_value)}"
            for (value, one), (next_value, other) in pairwise(ordered)
            if differ(one, other)
        ]
        if changes:
            on = "" if varied == "ranks" else f"on {counted(same[0].cell.ranks, 'rank')} "
            found = f"{on}between {', '.join(changes)}"
        elif len(ordered) > 1:
            found = found or ""
    return found
