"""Which cells of a campaign somebody asked to see."""

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from timpani.errors import UserError, unknown
from timpani.study.parameter_series import split_algorithms
from timpani.study.sizes import parse_size, parse_sizes
from timpani.study.values import parse_ranks
from timpani.study.words import counted


@dataclass(frozen=True)
class CellSelection:
    """What of a campaign is kept; None keeps everything.

    algorithms  labels as tables show them
    sizes       (first, last) in bytes, both kept
    """

    operations: tuple[str, ...] | None = None
    algorithms: tuple[str, ...] | None = None
    ranks: tuple[int, ...] | None = None
    sizes: tuple[tuple[int, int], ...] | None = None

    @classmethod
    def parse(
        cls, operations: str | None, algorithms: str | None, ranks: str | None, sizes: str | None
    ) -> "CellSelection":
        """What was typed: lists by commas; `FIRST:LAST` is all measured sizes between, as no step is asked for."""
        return cls(
            operations=tuple(name.strip() for name in operations.split(",")) if operations is not None else None,
            algorithms=split_algorithms(algorithms) if algorithms is not None else None,
            ranks=parse_ranks(ranks) if ranks is not None else None,
            sizes=tuple(_interval(part) for part in sizes.split(",")) if sizes is not None else None,
        )


def select_cells(cells: pl.DataFrame, selection: CellSelection) -> pl.DataFrame:
    """The cells of `estimate_cells` that were asked for.

    UserError for a name, a rank count or a size of which there is no cell at all, so that nothing is missed in silence.
    """
    kept = pl.lit(True)
    if selection.operations is not None:
        kept &= _is_one_of(cells, "collective", "operation", selection.operations)
    if selection.algorithms is not None:
        kept &= _is_one_of(cells, "label", "algorithm", selection.algorithms)
    if selection.ranks is not None:
        for ranks in selection.ranks:
            _must_have(cells.filter(ranks=ranks), counted(ranks, "rank"))
        kept &= pl.col("ranks").is_in(selection.ranks)
    if selection.sizes is not None:
        inside = [pl.col("message_bytes").is_between(first, last) for first, last in selection.sizes]
        for (first, last), condition in zip(selection.sizes, inside, strict=True):
            _must_have(cells.filter(condition), f"{first} B" if first == last else f"sizes from {first} to {last} B")
        kept &= pl.any_horizontal(inside)
    selected = cells.filter(kept)
    _must_have(selected, "all of that together")
    return selected


def _is_one_of(cells: pl.DataFrame, column: str, kind: str, names: Iterable[str]) -> pl.Expr:
    measured = set(cells[column])
    for name in names:
        if name not in measured:
            raise unknown(f"{kind} in this campaign", name, measured, "timpani show")
    return pl.col(column).is_in(list(names))


def _must_have(cells: pl.DataFrame, what: str) -> None:
    if cells.is_empty():
        raise UserError(f"the campaign has no cell of {what}", "without this option `timpani show` lists all cells")


def _interval(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    if not colon:
        return (size := parse_size(first)), size
    sizes = parse_sizes(f"{first}:{last}+{2**31 - 1}")
    return sizes[0], sizes[-1]
