"""A document as plain text, for a terminal."""

from collections.abc import Sequence
from functools import partial

from timpani.report.document.blocks import Block, Bullets, DrawnFigure, Heading, NextCommand, Sentence
from timpani.report.document.table import Table, grid

_INDENT = "  "


def text_of(blocks: Sequence[Block], width: int | None = None) -> str:
    """The blocks as lines; a table that may be divided is, where it is wider than `width` characters."""
    parts: list[str] = []
    for before, block in zip([None, *blocks], blocks, strict=False):
        if isinstance(block, DrawnFigure):
            continue
        apart = isinstance(block, Table | Heading) or isinstance(before, Table)
        parts += [""] if apart and parts and not isinstance(before, Heading) else []
        parts += lines_of(block, width)
    return "".join(f"{line}\n" for line in parts)


def lines_of(block: Block, width: int | None = None) -> list[str]:
    """A block as lines."""
    match block:
        case Heading():
            return [block.text]
        case Sentence():
            return [_INDENT * block.depth + block.text]
        case Bullets():
            if block.about and len(block.items) == 1:
                return [f"{block.about}: {block.items[0]}"]
            return [*([f"{block.about}:"] if block.about else []), *(f"- {item}" for item in block.items)]
        case NextCommand():
            about = f"{block.about}: " if block.about else ""
            return [_INDENT * block.depth + about + block.command]
        case Table():
            parts = block.divided(partial(_fits, width=width))
            return "\n\n".join("\n".join(_table(part)) for part in parts).split("\n")
        case DrawnFigure():
            return []


def _fits(table: Table, width: int | None) -> bool:
    return width is None or max(map(len, _grid_lines(table))) <= width


def _table(table: Table) -> list[str]:
    footnotes = ["", *table.footnotes] if table.footnotes else []
    return [*filter(None, (table.caption, *table.notes)), *_grid_lines(table), *footnotes]


def _grid_lines(table: Table) -> list[str]:
    columns = grid(table)
    rows = [
        [column.title for column in columns],
        *([column.marked(row, "{}*", " {}") for column in columns] for row in table.rows),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.ljust(width) if column.words else text.rjust(width)
            for text, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in rows
    ]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table of texts, the headings first."""
    return _grid_lines(Table.of_texts(rows) or Table("", tuple(rows[0]), ()))
