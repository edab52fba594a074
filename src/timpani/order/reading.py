"""Read orders of addition: untimed calls of a campaign's cells, with a contribution of ±M at each pair of ranks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from typing import Any, NamedTuple, Self

from timpani.campaign.plan.estimate import call_seconds, start_seconds
from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.run.run import MIN_TIMEOUT
from timpani.campaign.run.start import Starter
from timpani.order.tree import SummationTree, UnreadableError, read_tree
from timpani.study.cell import Cell
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_size
from timpani.study.words import counted

Order = SummationTree | str
"""A tree, or why none can be read."""

METHOD = "read_order"
MAX_ROOTS = 16
"""Ranks up to which each root is read: every root costs as much as the first."""

DATATYPE, OPERATOR, ELEMENT_BYTES = "double", "sum", 8

_CALLS_PER_PAIR = 2
_OVERSUBSCRIBED = 100
"""How many times as long a call takes where ranks share cores."""


class Run(NamedTuple):
    """Consecutive elements of a rank's result that are added in one order."""

    elements: int
    order: Order


@dataclass(frozen=True)
class Reading:
    """How a cell was seen to add.

    root     0 if the collective has none
    launch   of those that read the cell at this root; the first is 1
    results  of each rank, from its first element on
    changes  whether a second call in the same launch added in another order
    """

    cell: Cell
    root: int
    launch: int
    results: tuple[tuple[Run, ...], ...]
    changes: bool = False

    @cached_property
    def orders(self) -> tuple[tuple[Order, ...], ...]:
        """Of each rank the different orders along its result, by their first element."""
        return tuple(tuple(dict.fromkeys(run.order for run in runs)) for runs in self.results)

    @cached_property
    def distinct(self) -> tuple[Order, ...]:
        """All orders, each once."""
        return tuple(dict.fromkeys(order for orders in self.orders for order in orders))

    @cached_property
    def trees(self) -> tuple[SummationTree, ...]:
        """All orders that can be read, each once."""
        return tuple(order for order in self.distinct if not isinstance(order, str))

    @property
    def is_readable(self) -> bool:
        """Whether every element has an order."""
        return len(self.trees) == len(self.distinct) > 0

    @property
    def point(self) -> str:
        """Ranks and size in words: `4 ranks, 64 KiB`."""
        return f"{counted(self.cell.ranks, 'rank')}, {show_size(self.cell.message_bytes)}"

    def same_bits(self, other: Self) -> bool:
        """Whether both give each rank the same bits, whatever is added: their orders are known, constant and equal."""
        return self.is_readable and self.results == other.results and not (self.changes or other.changes)

    @classmethod
    def from_record(cls, cell: Cell, root: int, launch: int, found: list[dict[str, Any]]) -> Self:
        """What the native program recorded as `order` of a cell."""
        pairs = list(combinations(range(cell.ranks), 2))

        @cache
        def order(left: tuple[int, ...], ranks: range) -> Order:
            try:
                return read_tree(dict(zip(pairs, left, strict=True)), ranks)
            except UnreadableError as why:
                return str(why)

        def runs(rank: int) -> Iterator[Run]:
            if ranks := summed_ranks(cell, rank):
                left = found[rank]["remainders"]
                yield from (Run(elements, order(tuple(left[name]), ranks)) for elements, name in found[rank]["runs"])

        changes = any(each["changes"] for each in found)
        return cls(cell, root, launch, tuple(tuple(runs(rank)) for rank in range(cell.ranks)), changes)


def summed_ranks(cell: Cell, rank: int) -> range:
    """The ranks whose contributions are in the result of `rank`."""
    movement = OPERATIONS[cell.collective].movement
    result = movement.result if movement else "none"
    return range({"prefix": rank + 1, "prefix_before": rank}.get(result, cell.ranks))


def is_rooted(collective: str) -> bool:
    """Whether one rank has the result."""
    return OPERATIONS[collective].takes["root"]


def starts_to_read(plan: CampaignPlan, again: Callable[[Cell], bool]) -> Iterator[CampaignPlan]:
    """What each start reads: all cells at root 0; then those to read `again`, with a root at 1; then these at each
    further root. Of more than MAX_ROOTS ranks only root 0 is read.
    """
    yield plan
    every_root = [
        each.cell.ranks
        for each in plan.cells
        if again(each.cell) and is_rooted(each.cell.collective) and each.cell.ranks <= MAX_ROOTS
    ]
    for root in range(1, max(every_root, default=2)):

        def wanted(cell: Cell, root: int = root) -> bool:
            return again(cell) and (root < cell.ranks <= MAX_ROOTS if is_rooted(cell.collective) else root == 1)

        groups = (
            replace(each, arguments=replace(each.arguments, root=root)) for each in plan.restricted_to(wanted).groups
        )
        part = replace(plan, groups=tuple(groups))
        if part.groups:
            yield part


def expected_calls(cell: Cell) -> int:
    """The calls that read a cell."""
    return _CALLS_PER_PAIR * cell.ranks * (cell.ranks - 1) // 2


def expected_seconds(plan: CampaignPlan) -> float:
    """About how long one start of a plan takes."""
    return sum(
        start_seconds(group.mpi.kind, group.ranks)
        + (_OVERSUBSCRIBED if group.oversubscribed else 1)
        * sum(expected_calls(each.cell) * call_seconds(each.cell) for each in group.cells)
        for group in plan.groups
    )


def read_start(starter: Starter, part: CampaignPlan, launch: int = 1) -> list[Reading]:
    """The orders of the cells of `part`, which must be sums of doubles; a note for each that failed.

    launch  the start's number, from 1
    """
    readings: list[Reading] = []
    with starter.store.writing():
        for group in part.groups:
            root = group.arguments.root_in(1, group.ranks)  # of the first launch, as `untimed` has it

            def take(part: str, cell: Cell, values: Mapping[str, Any], root: int = root) -> None:
                of_root = (root, 1) if is_rooted(cell.collective) else (0, launch)
                readings.append(Reading.from_record(cell, *of_root, values["order"]))

            pending = list(group.cells)
            while pending and not starter.stop():
                pending = starter.read_cells(group, pending, METHOD, MIN_TIMEOUT, take, "not read")
    return readings
