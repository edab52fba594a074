"""The tables of a document as CSV."""

import csv
import io
from collections.abc import Iterator, Sequence

from timpani.errors import UserError
from timpani.report.document.blocks import Block
from timpani.report.document.table import Table, Value

_MARKS = "marks"


def csv_of(blocks: Sequence[Block]) -> str:
    """All tables as one: `table` is the caption, then a column for each that one of them has, with its bounds and its
    detail. Numbers are in full. `marks` has the marks of a row's values.

    UserError without a table.
    """
    tables = [block for block in blocks if isinstance(block, Table)]
    if not tables:
        raise UserError("there is no table here to print as CSV", "use --format text or json")
    rows = [
        {"table": table.caption or table.name, **dict(_entries(table, row))} for table in tables for row in table.rows
    ]
    names = list(dict.fromkeys(name for row in rows for name in row if name != _MARKS))
    marks = [_MARKS] if any(_MARKS in row for row in rows) else []
    text = io.StringIO()
    writer = csv.DictWriter(text, [*names, *marks], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _entries(table: Table, row: Sequence[Value]) -> Iterator[tuple[str, str | float | None]]:
    for title, value in zip(table.columns, row, strict=True):
        yield title, value.content
        bounds = (("low", value.low), ("high", value.high)) if (value.low, value.high) != (None, None) else ()
        yield from ((f"{title}, {end}", bound) for end, bound in bounds)
        if value.detail:
            yield f"{title}, detail", value.detail
    marked = [f"{title}: {value.marks}" for title, value in zip(table.columns, row, strict=True) if value.marks]
    if marked:
        yield _MARKS, "; ".join(marked)
