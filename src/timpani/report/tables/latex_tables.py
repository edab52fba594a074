"""A table in LaTeX, with the rules of the package booktabs."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from timpani.report.tables.report_table import Table
from timpani.report.tables.table_grid import GridColumn, grid_columns, grid_rows

_ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "µ": r"\textmu{}",
        "–": "--",
        "×": r"$\times$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "·": r"$\cdot$",
        "→": r"$\rightarrow$",
        "²": r"$^2$",
        "α": r"$\alpha$",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


_MAX_LINE_CHARACTERS = 40

_BOLD, _SUPERSCRIPT = r"\textbf{{{}}}", r"\textsuperscript{{{}}}"
"""Formats of a text."""


def escaped(text: str) -> str:
    """`text` such that LaTeX prints it as it is."""
    return text.translate(_ESCAPED)


def table_latex(table: Table) -> str:
    """A float with the caption, the notes and a `tabular`."""
    return "\n".join(_float(table)) + "\n"


def _float(table: Table) -> Iterator[str]:
    columns = grid_columns(table)
    yield r"\begin{table}"
    yield r"\centering"
    caption = f"{table.caption}." if table.notes else table.caption
    yield rf"\caption{{{escaped(' '.join([caption, *table.notes]))}}}"
    yield rf"\begin{{tabular}}{{{_alignment(table, columns)}}}"
    yield r"\toprule"
    if any(column.head for column in columns):
        yield from _groups(columns)
    yield _row([escaped(table.corner), *(escaped(column.head or column.group) for column in columns)])
    yield r"\midrule"
    for head, row in grid_rows(table):
        entries = (column.marked(value, _BOLD, _SUPERSCRIPT, escaped) for column, value in row)
        yield _row([escaped(head), *entries])
    yield r"\bottomrule"
    yield r"\end{tabular}"
    for footnote in table.footnotes:
        yield rf"\par\footnotesize {escaped(footnote)}"
    yield r"\end{table}"


def _alignment(table: Table, columns: Sequence[GridColumn]) -> str:
    """How each column is set; a table with long entries has columns of a width, in which they are broken."""
    longest = max((len(column.entry(value)) for _, row in grid_rows(table) for column, value in row), default=0)
    if longest > _MAX_LINE_CHARACTERS:
        share = 0.9 / (len(columns) + 1)  # the rest is between them
        return rf"p{{{share:.2f}\linewidth}}" * (len(columns) + 1)
    first = "r" if all(head.isdecimal() for head, _ in table.rows) else "l"
    return first + "".join("l" if column.words else "r" for column in columns)


def _groups(columns: Sequence[GridColumn]) -> Iterator[str]:
    """The line above the heads of pairs, and the rules under its groups."""
    groups = [(name, list(members)) for name, members in groupby(columns, key=lambda column: column.group)]
    heads, rules, place = [""], [], 2
    for name, members in groups:
        heads.append(rf"\multicolumn{{{len(members)}}}{{c}}{{{escaped(name)}}}" if len(members) > 1 else "")
        rules += [rf"\cmidrule(lr){{{place}-{place + len(members) - 1}}}"] if len(members) > 1 else []
        place += len(members)
    yield _row(heads)
    yield "".join(rules)


def _row(cells: Sequence[str]) -> str:
    # An empty group first: LaTeX would take a bracket at the start of a row for an argument of the row before it.
    return "{}" * cells[0].startswith("[") + " & ".join(cells) + r" \\"
