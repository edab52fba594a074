"""Readings as a document, as JSON and as a drawing."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any
from xml.sax.saxutils import escape

from timpani.order.reading import Reading
from timpani.order.reproducibility import PARAMETERS, Reproducibility
from timpani.order.tree import SummationTree, depth, evaluate, ranks_of, show
from timpani.report.document.blocks import Block, Document, DrawnFigure, Sentence, Table, rows
from timpani.study.cell import Algorithm
from timpani.study.schema import cell_columns
from timpani.study.sizes import show_size
from timpani.study.words import counted

Names = Callable[[Reading], tuple[Algorithm, ...]]
"""The schedules that add like a reading."""

_SHOWN_ORDER = 60
"""Characters of an order in a table."""


def order_document(readings: Sequence[Reading], names: Names) -> Document:
    """Sentences about the default of each collective, a row for each range of sizes with one order, and drawings."""
    return Document("Order of addition", tuple(_blocks(readings, names)))


def _blocks(readings: Sequence[Reading], names: Names) -> Iterator[Block]:
    for _, same in groupby(sorted(readings, key=_algorithm), key=_algorithm):
        facts = Reproducibility.of_readings(of_one := list(same))
        if of_one[0].cell.algorithm.is_default or facts.unreadable or PARAMETERS in facts.depends_on:
            yield Sentence("reproducibility", facts.text, vars(facts))
    first = sorted((each for each in readings if (each.launch, each.root) == (1, 0)), key=_curve)
    ranges = [list(same) for _, same in groupby(first, key=lambda each: (*_curve(each)[:-1], each.orders))]
    columns = ("collective", "ranks", "placement", "algorithm", "sizes", "depth", "order", "adds as")
    yield Table("orders", columns, rows(_row(each, names) for each in ranges), caption="Orders of addition")
    if trees := _titled_trees(ranges):
        yield DrawnFigure("trees", "Orders of addition", lambda: svg(trees))


def _algorithm(reading: Reading) -> tuple[str, bool, str]:
    cell = reading.cell
    return cell.collective, not cell.algorithm.is_default, cell.algorithm.name


def _curve(reading: Reading) -> tuple[Any, ...]:
    cell = reading.cell
    return cell.collective, cell.ranks, *_algorithm(reading), cell.algorithm.label, cell.placement, cell.message_bytes


def _sizes(of_range: Sequence[Reading]) -> str:
    ends = (of_range[0].cell.message_bytes, of_range[-1].cell.message_bytes)
    return "–".join(map(show_size, dict.fromkeys(ends)))


def _row(of_range: Sequence[Reading], names: Names) -> tuple[str | int | None, ...]:
    reading = of_range[0]
    cell = reading.cell
    deepest = max(map(depth, reading.trees), default=None)
    what = (cell.collective, cell.ranks, cell.placement, cell.algorithm.label, _sizes(of_range))
    return (*what, deepest, _shown(reading), names_in_words(reading, names))


def names_in_words(reading: Reading, names: Names) -> str:
    """The schedules that add like a reading, in words."""
    if not reading.is_readable:
        return "unknown"
    return ", ".join(each.plain for each in names(reading)) or "none of Timpani's flat schedules"


def _shown(reading: Reading) -> str:
    """The order of the most summands, and how many others there are."""
    if not reading.trees:
        return "can't be read"
    text = show(max(reading.trees, key=lambda tree: len(ranks_of(tree))))
    text = text if len(text) <= _SHOWN_ORDER else f"{text[: _SHOWN_ORDER - 2]} …"
    others = len(reading.distinct) - 1
    text = f"{text} and {counted(others, 'other')}" if others else text
    return f"{text}; another call differs" if reading.changes else text


def order_objects(readings: Sequence[Reading], names: Names) -> list[dict[str, Any]]:
    """Each reading: its cell's columns, root, launch, names, and for each rank its runs `[elements, order]`."""
    own = ("root", "launch", "changes", "results")
    return [
        {
            **cell_columns(each.cell),
            **{name: getattr(each, name) for name in own},
            "adds_as": list(map(str, names(each))),
        }
        for each in readings
    ]


def _titled_trees(ranges: Sequence[Sequence[Reading]]) -> list[tuple[str, SummationTree]]:
    """Every order that was read, each once, and where it was read first."""
    found: dict[SummationTree, str] = {}
    for of_range in ranges:
        cell = of_range[0].cell
        title = f"{cell.collective} {cell.algorithm.label} on {counted(cell.ranks, 'rank')}, {_sizes(of_range)}"
        for tree in of_range[0].trees:
            if not isinstance(tree, int):
                found.setdefault(tree, title)
    return [(title, tree) for tree, title in found.items()]


_STEP, _MARGIN = 26, 14  # of drawn trees, pixels


def svg(trees: Sequence[tuple[str, SummationTree]]) -> str:
    """Trees under their titles, with ranks at their leaves."""
    parts: list[str] = []
    base, width = 0, 0
    for title, tree in trees:
        parts.append(f'<text x="{_MARGIN}" y="{base + _MARGIN}">{escape(title)}</text>')
        base += (depth(tree) + 2) * _STEP
        places = iter(range(_MARGIN, (len(ranks_of(tree)) + 1) * _STEP, _STEP))

        def leaf(rank: int, places: Iterator[int] = places, base: int = base) -> tuple[float, int]:
            x = next(places)
            parts.append(f'<text x="{x}" y="{base + _MARGIN}" text-anchor="middle">{rank}</text>')
            return x, base

        def join(one: tuple[float, int], other: tuple[float, int]) -> tuple[float, int]:
            x, y = (one[0] + other[0]) / 2, min(one[1], other[1]) - _STEP
            parts.extend(f'<path d="M{below[0]:g} {below[1]}V{y}H{x:g}"/>' for below in (one, other))
            return x, y

        evaluate(tree, leaf, join)
        width = max(width, len(ranks_of(tree)) * _STEP, 7 * len(title))
        base += _STEP
    style = "text{font:12px sans-serif}path{fill:none;stroke:#555}"
    size = f'width="{width + 2 * _MARGIN}" height="{base}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{style}</style>{"".join(parts)}</svg>\n'
