"""The matrices of transposes in words: each as it was sent, and as it arrived."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from timpani.campaign.run.prove import Matrices, Rows
from timpani.study.sizes import show_size
from timpani.study.words import counted


def matrix_lines(shown: Iterable[Matrices]) -> Iterator[str]:
    """Each matrix that was sent once, and under it each different one that arrived, with the ways that made it."""
    for (ranks, size, first), made in groupby(sorted(shown, key=_sent), _sent):
        yield f"transpose, {counted(ranks, 'rank')}, {show_size(size)}: the matrix that is sent"
        yield from _grid(first)
        by_last: dict[Rows, list[str]] = {}
        for each in made:
            by_last.setdefault(each.last, []).append(each.cell.algorithm.plain)
        for last, ways in by_last.items():
            yield f"what arrived by {', '.join(ways)}"
            yield from _grid(last)


def _sent(each: Matrices) -> tuple[int, int, Rows]:
    return each.cell.ranks, each.cell.message_bytes, each.first


def _grid(rows: Rows) -> Iterator[str]:
    width = max((len(str(number)) for row in rows for number in row), default=0)
    for row in rows:
        yield "  " + " ".join(f"{number:>{width}}" for number in row)
