"""A document in LaTeX, for the packages booktabs and array; tables fit the line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from timpani.report.document.blocks import Block, Bullets, DrawnFigure, Heading, NextCommand, Sentence
from timpani.report.document.table import GridColumn, Table, grid

LINE_PT = 345.0
"""Width of a line of the class `article` in its 10 pt, points of TeX."""

PT_PER_MM = 72.27 / 25.4

_SIZES = {"": 10, r"\small": 9, r"\footnotesize": 8}
"""Commands that choose a size of type, and the size in points."""

_SMALLEST = r"\footnotesize"

_COLUMN_SEPARATION = 2 * 6.0  # points of TeX: \tabcolsep on both sides of a column
_CHARACTER_WIDTHS = {"fijlt I.,:;'|![]()": 3.9, "mw+=%@<>≤≥×µ→·": 8.4, "MW": 10.3}
_CAPITAL, _OTHER, _BOLD_FACTOR = 7.9, 5.6, 1.15
"""Widths of Computer Modern's characters in 10 pt, points of TeX, each rounded up to the widest of its group; and how
much wider bold type is."""

_NARROWEST_WORDS = 60.0  # points of a column of words that is broken into lines

_ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "µ": r"\textmu{}",
        "–": "--",
        "…": r"\ldots{}",
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
_HEADINGS = {1: "section", 2: "section", 3: "subsection"}
_BOLD, _SUPERSCRIPT = r"\textbf{{{}}}", r"\textsuperscript{{{}}}"
"""Formats of a text."""


def latex_of(blocks: Sequence[Block], line_pt: float = LINE_PT) -> str:
    """The blocks for a document with lines of `line_pt` points of TeX."""
    return "\n".join("".join(f"{line}\n" for line in lines) for block in blocks if (lines := [*_lines(block, line_pt)]))


def escaped(text: str) -> str:
    """`text` such that LaTeX prints it as it is."""
    return text.translate(_ESCAPED)


def with_code(text: str) -> str:
    """`text` such that LaTeX prints it as it is, with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escaped(text)
    return "".join(rf"\texttt{{{escaped(part)}}}" if i % 2 else escaped(part) for i, part in enumerate(parts))


def _lines(block: Block, line_pt: float) -> Iterator[str]:
    match block:
        case Heading():
            yield rf"\{_HEADINGS.get(block.level, 'subsubsection')}{{{escaped(block.text)}}}"
        case Sentence():
            yield with_code(block.text)
        case Bullets():
            yield from [f"{with_code(block.about)}:"] if block.about else []
            yield from (r"\begin{itemize}", *(rf"\item {with_code(item)}" for item in block.items), r"\end{itemize}")
        case NextCommand():
            yield (f"{with_code(block.about)}: " if block.about else "") + rf"\texttt{{{escaped(block.command)}}}"
        case Table():
            for number, part in enumerate(block.divided(partial(_fits, line_pt=line_pt))):
                yield from [""] if number else []
                yield from _float(part, line_pt)
        case DrawnFigure():
            yield from (r"\begin{figure}", r"\centering", rf"\includegraphics[width=\linewidth]{{{block.name}}}")
            yield from (rf"\caption{{{escaped(block.title)}}}", r"\end{figure}")


def _float(table: Table, line_pt: float) -> Iterator[str]:
    """A float with the caption, the notes and a `tabular`, in the largest type in which it fits the line."""
    columns = grid(table)
    size = next((name for name in _SIZES if table_width(table, name) <= line_pt), _SMALLEST)
    broken = _broken_columns(table, columns, line_pt) if table_width(table, size) > line_pt else {}
    yield from (r"\begin{table}", r"\centering")
    caption = f"{table.caption}." if table.caption and table.notes else table.caption
    yield rf"\caption{{{with_code(' '.join(filter(None, [caption, *table.notes])))}}}"
    yield from [size] if size else []
    yield rf"\begin{{tabular}}{{{''.join(_alignment(column, broken) for column in columns)}}}"
    yield r"\toprule"
    yield _row([escaped(column.title) for column in columns])
    yield r"\midrule"
    for row in table.rows:
        entries = [column.marked(row, _BOLD, _SUPERSCRIPT, with_code) for column in columns]
        yield _row(
            [_breakable(entry) if column in broken else entry for column, entry in zip(columns, entries, strict=True)]
        )
    yield from (r"\bottomrule", r"\end{tabular}")
    yield from (rf"\par\footnotesize {with_code(footnote)}" for footnote in table.footnotes)
    yield r"\end{table}"


def _fits(table: Table, line_pt: float) -> bool:
    return table_width(table, _SMALLEST) <= line_pt


def table_width(table: Table, size: str = "") -> float:
    """The width of its `tabular` with unbroken entries, at most, points of TeX."""
    columns = grid(table)
    return sum(_column_width(table, column, size) + _COLUMN_SEPARATION for column in columns)


def _column_width(table: Table, column: GridColumn, size: str) -> float:
    entries = (
        _text_width(column.marked(row, "{}", "{}")) * (_BOLD_FACTOR if row[column.place].best else 1)
        for row in table.rows
    )
    return max(_text_width(column.title), *entries) * _SIZES[size] / 10


def _text_width(text: str) -> float:
    """The width in 10 pt."""
    return sum(
        next((width for group, width in _CHARACTER_WIDTHS.items() if character in group), None)
        or (_CAPITAL if character.isupper() else _OTHER)
        for character in text
    )


def _broken_columns(table: Table, columns: Sequence[GridColumn], line_pt: float) -> dict[GridColumn, float]:
    """The columns of words that are broken into lines, and their widths: they share what the others leave."""
    widths = {column: _column_width(table, column, _SMALLEST) for column in columns}
    words = sorted((column for column in columns if column.words), key=lambda column: widths[column])
    left = line_pt - len(columns) * _COLUMN_SEPARATION - sum(widths[each] for each in columns if not each.words)
    broken = {}
    for done, column in enumerate(words):
        share = max(left / (len(words) - done), _NARROWEST_WORDS)
        if widths[column] > share:
            broken[column] = share
        left -= min(widths[column], share)
    return broken


def _alignment(column: GridColumn, broken: Mapping[GridColumn, float]) -> str:
    if column in broken:
        return rf">{{\raggedright\arraybackslash}}p{{{broken[column]:.0f}pt}}"
    return "l" if column.words else "r"


def _breakable(text: str) -> str:
    """A text of LaTeX that may be broken behind slashes, underscores, colons, commas and equals signs, too."""
    return re.sub(r"(\\_|[/:,=])(?=\S)", r"\1\\allowbreak{}", text)


def _row(cells: Sequence[str]) -> str:
    # An empty group first: LaTeX would take a bracket at the start of a row for an argument of the row before it.
    return "{}" * cells[0].startswith("[") + " & ".join(cells) + r" \\"
