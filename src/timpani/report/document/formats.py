"""A document in every format that a command prints."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, get_args

from timpani.errors import UserError
from timpani.report.document.blocks import (
    Block,
    Bullets,
    Document,
    DrawnFigure,
    Heading,
    NextCommand,
    Sentence,
    Table,
    Value,
)
from timpani.report.document.html import html_page
from timpani.report.document.latex import LINE_PT, PT_PER_MM, latex_of
from timpani.report.document.text import markdown_of, text_of

FormatName = Literal["text", "markdown", "html", "latex", "csv", "json"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)


def render(document: Document, format: FormatName, width: int | None = None, width_mm: float | None = None) -> str:
    """The document in a format, with a line break at its end.

    width     of a terminal, characters: wider tables are divided where they may be
    width_mm  of a line in LaTeX, millimeters; by default that of the class `article`
    """
    match format:
        case "text":
            return text_of(document.blocks, width)
        case "markdown":
            return markdown_of(document)
        case "html":
            return html_page(document)
        case "latex":
            return latex_of(document.blocks, LINE_PT if width_mm is None else width_mm * PT_PER_MM)
        case "csv":
            return csv_of(document.blocks)
        case "json":
            return json_of(document)


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
        {"table": table.caption or table.name, **dict(_csv_entries(table, row))}
        for table in tables
        for row in table.rows
    ]
    names = list(dict.fromkeys(name for row in rows for name in row if name != _MARKS))
    marks = [_MARKS] if any(_MARKS in row for row in rows) else []
    return csv_text(rows, [*names, *marks])


def csv_text(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Rows under a line of these names, as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _csv_entries(table: Table, row: Sequence[Value]) -> Iterator[tuple[str, str | float | None]]:
    for title, value in zip(table.columns, row, strict=True):
        yield title, _finite_content(value)
        bounds = (("low", value.low), ("high", value.high)) if (value.low, value.high) != (None, None) else ()
        yield from ((f"{title}, {end}", finite(bound)) for end, bound in bounds)
        if value.detail:
            yield f"{title}, detail", value.detail
    marked = [f"{title}: {value.marks}" for title, value in zip(table.columns, row, strict=True) if value.marks]
    if marked:
        yield _MARKS, "; ".join(marked)


def json_of(document: Document) -> str:
    """An object with the title and a key for each name of blocks; several blocks of a name are a list."""
    return json_text({"title": document.title, **blocks_object(document.blocks)})


def json_text(value: Any) -> str:
    """What every command prints as JSON; ValueError for an infinity or NaN, which JSON cannot express."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def finite(number: float | None) -> float | None:
    """`number`, or None for an infinity or NaN, which JSON cannot express and CSV leaves empty."""
    return number if number is not None and isfinite(number) else None


def _finite_content(value: Value) -> str | float | None:
    return value.content if isinstance(value.content, str) else finite(value.content)


def blocks_object(blocks: Sequence[Block]) -> dict[str, Any]:
    """What each block holds by its name, without headings and figures."""
    found: dict[str, list[Any]] = {}
    for block in blocks:
        if not isinstance(block, Heading | DrawnFigure):
            found.setdefault(block.name, []).append(_json_content(block))
    return {name: each[0] if len(each) == 1 else each for name, each in found.items()}


def _json_content(block: Sentence | Bullets | NextCommand | Table) -> Any:
    match block:
        case Sentence():
            return {"text": block.text, **block.values} if block.values else block.text
        case Bullets():
            return list(block.items)
        case NextCommand():
            return {"about": block.about, "command": block.command} if block.about else block.command
        case Table():
            rows = [dict(zip(block.columns, map(_json_value, row), strict=True)) for row in block.rows]
            above = {"caption": block.caption, "notes": [*block.notes, *block.footnotes]}
            return {**{name: value for name, value in above.items() if value}, "rows": rows}


def _json_value(value: Value) -> Any:
    content = _finite_content(value)
    bounds = {"low": finite(value.low), "high": finite(value.high)}
    further = {
        **(bounds if any(bound is not None for bound in bounds.values()) else {}),
        **({"detail": value.detail} if value.detail else {}),
        **({"marks": value.marks} if value.marks else {}),
        **({"best": True} if value.best else {}),
    }
    return {"value": content, **further} if further else content
