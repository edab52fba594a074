"""What a campaign was to measure, as campaign.json records it: so that what gave no result is missed."""

from collections import defaultdict
from collections.abc import Iterable

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import PlannedOperation, PlannedPoints
from timpani.study.cell import Cell
from timpani.study.point_weights import Point


def planned_operations(cells: Iterable[Cell]) -> dict[str, PlannedOperation]:
    """By operation, what all `cells` of a plan are of."""
    algorithms: defaultdict[str, dict[str, None]] = defaultdict(dict)
    sizes: defaultdict[str, defaultdict[tuple[int, str], set[int]]] = defaultdict(lambda: defaultdict(set))
    for cell in cells:
        algorithms[cell.collective][cell.algorithm.label] = None
        sizes[cell.collective][cell.ranks, cell.placement].add(cell.message_bytes)
    return {
        name: PlannedOperation(
            algorithms=tuple(labels),
            points=tuple(
                PlannedPoints(ranks=ranks, placement=placement, sizes=tuple(sorted(found)))
                for (ranks, placement), found in sizes[name].items()
            ),
        )
        for name, labels in algorithms.items()
    }


def planned_points(header: Header, machine: str) -> frozenset[Point]:
    """The points that the campaign of `header` was to measure on `machine`; none where that wasn't recorded."""
    return frozenset(
        Point(name, each.ranks, each.placement, size, header.study.mode, machine, header.study.arrival)
        for name, operation in (header.planned or {}).items()
        for each in operation.points
        for size in each.sizes
    )
