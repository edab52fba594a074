"""Tables as aligned text, as Markdown and as CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from timpani.report.tables.report_table import Table
from timpani.report.tables.table_grid import grid_columns, grid_rows


def table_text(table: Table) -> str:
    """The table as aligned columns under its caption."""
    columns = grid_columns(table)
    heads = [(table.corner, *(column.group if not column.details else "" for column in columns))]
    if any(column.head for column in columns):
        heads.append(("", *(column.head for column in columns)))
    rows = [(head, *(column.marked(value, "{}*", " {}") for column, value in row)) for head, row in grid_rows(table)]
    left = [True, *(column.words for column in columns)]
    lines = [*filter(None, (table.caption, *table.notes)), *flush([*heads, *rows], left)]
    footnotes = ["", *table.footnotes] if table.footnotes else []
    return "\n".join([*lines, *footnotes]) + "\n"


def tables_text(tables: Iterable[Table]) -> str:
    """The tables as text, with an empty line between them."""
    return "\n".join(map(table_text, tables))


def tables_markdown(tables: Iterable[Table]) -> str:
    """The tables in Markdown, one under another."""
    return "\n".join("\n".join(_markdown(table)) for table in tables)


def tables_csv(tables: Sequence[Table]) -> str:
    """The tables as one CSV: `table` is the caption, then a column for each that one of them has. `marks` has the marks
    of a row's values."""
    titles = list(dict.fromkeys(column.title for table in tables for column in grid_columns(table)))
    corners = {table.corner for table in tables}
    corner = corners.pop() if len(corners) == 1 else "row"
    marked = any(value.marks for table in tables for _, values in table.rows for value in values)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", corner, *titles, *(["marks"] if marked else [])])
    for table in tables:
        for head, row in grid_rows(table):
            entries = {column.title: _entry_csv(column.entry(value)) for column, value in row}
            marks = [f"{c.group}: {value.marks}" for c, value in row if value.marks and not c.details]
            writer.writerow(
                [table.caption, head, *(entries.get(title, "") for title in titles), *(["; ".join(marks)] * marked)]
            )
    return text.getvalue()


def flush(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """Lines of aligned columns, flush left or right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.ljust(width) if at_left else text.rjust(width)
            for text, width, at_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    ]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first and the last column flush left and those between flush right."""
    count = len(rows[0]) if rows else 0
    return flush(rows, [place in (0, count - 1) for place in range(count)]) if rows else []


def _entry_csv(text: str) -> str:
    return "" if text == "–" else text


def _markdown(table: Table) -> Iterator[str]:
    columns = grid_columns(table)
    if table.caption:
        yield f"### {table.caption}\n"
    for note in table.notes:
        yield f"{note}\n"
    yield _row_markdown([table.corner, *(column.title for column in columns)])
    yield f"|{'|'.join([' --- ', *(' --- ' if column.words else ' ---: ' for column in columns)])}|"
    for head, row in grid_rows(table):
        yield _row_markdown([head, *(column.marked(value, "**{}**", "<sup>{}</sup>") for column, value in row)])
    yield ""
    for footnote in table.footnotes:
        yield f"{footnote}\n"


def _row_markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
