"""What follows from readings: whether results are reproducible, and what they depend on."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

from timpani.order.reading import Reading
from timpani.order.tree import UNIT_ROUNDOFF, depth, in_rank_order, restricted
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_size
from timpani.study.words import counted, listed

SIZE, PLACEMENT, ROOT = "the message size", "the placement", "the root"
PARAMETERS, LAUNCH, RANKS = "its parameters", "the launch", "further ranks that contribute zeros"

_VARIED: Mapping[str, Callable[[Reading], Any]] = {
    SIZE: lambda each: each.cell.message_bytes,
    PLACEMENT: lambda each: each.cell.placement,
    ROOT: lambda each: each.root,
    PARAMETERS: lambda each: each.cell.algorithm.parameter_text,
    LAUNCH: lambda each: each.launch,
    RANKS: lambda each: each.cell.ranks,
}


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
        differing = {
            "the position in the vector": (
                each.point for each in readings if (max(map(len, each.orders)) if whole else len(each.distinct)) > 1
            ),
            "the call": (each.point for each in readings if each.changes),
        }
        depends: dict[str, str | None] = {what: next(where, "") for what, where in differing.items()}
        compared = {what: _differing_place(readings, what) for what in _VARIED}
        applies = {RANKS: movement.result == "sum", ROOT: movement.rooted, PARAMETERS: compared[PARAMETERS] is not None}
        depends |= {what: where for what, where in compared.items() if applies.get(what, True)}
        if movement.rooted and compared[ROOT] is not None:
            read = {(each.cell.ranks, each.root) for each in readings}
            counts = sorted({ranks for ranks, _ in read if sum(ranks == each for each, _ in read) < ranks})
            depends |= {f"further roots on {counted(ranks, 'rank')}": None for ranks in counts}
        trees = [(each.cell.ranks, tree) for each in readings for tree in each.trees]
        return cls(
            cell.collective if cell.algorithm.is_default else f"{cell.collective} {cell.algorithm.name}",
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


def _differ(one: Reading, other: Reading, varied: str) -> bool:
    """Whether the order differs between two readings that differ in one thing."""
    if varied == RANKS:
        return {restricted(tree, one.cell.ranks) for tree in other.trees} != set(one.trees)
    if varied == ROOT:
        return one.distinct != other.distinct
    if varied == LAUNCH:
        return one.results != other.results
    # Of short vectors some ranks get no element.
    return any(a != b for a, b in zip(one.orders, other.orders, strict=True) if a and b)


def _differing_place(readings: Sequence[Reading], varied: str) -> str | None:
    """Where readings differ that are equal in all of `_VARIED` but one; None without two such readings.

    Of several places the last is named, which has the most ranks; there all sizes, or the first other change.
    """
    equal = defaultdict[object, list[Reading]](list)
    for each in readings:
        equal[tuple(value(each) for what, value in _VARIED.items() if what != varied)].append(each)
    found: str | None = None
    show: Callable[[Any], str] = show_size if varied == SIZE else str
    for same in equal.values():
        ordered = sorted(same, key=_VARIED[varied])
        changes = [
            " and ".join(show(_VARIED[varied](each)) for each in pair)
            for pair in pairwise(ordered)
            if _differ(*pair, varied)
        ]
        if changes:
            on = f"on {counted(same[0].cell.ranks, 'rank')} "
            at = "" if varied == RANKS else on if varied == SIZE else f"{on}at {show_size(same[0].cell.message_bytes)} "
            found = f"{at}between {', '.join(changes if varied == SIZE else changes[:1])}"
        elif len(ordered) > 1:
            found = found or ""
    return found
