"""A document in LaTeX, for the packages booktabs and array; tables fit the line and the page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil

from timpani.report.document.blocks import (
    Block,
    Bullets,
    DrawnFigure,
    GridColumn,
    Heading,
    NextCommand,
    Sentence,
    Table,
    Value,
    grid,
)

LINE_PT = 345.0
"""Width of a line of the class `article` in its 10 pt, points of TeX."""

_ROWS_PT = 460.0
"""Height of a table's rows and footnotes, at most: a page of the class `article` has 550 points of TeX."""

PT_PER_MM = 72.27 / 25.4

_SIZES = {"": 10, r"\small": 9, r"\footnotesize": 8}
"""Commands that choose a size of type, and the size in points."""

_SMALLEST = r"\footnotesize"
_LINE_SPACING = 1.2  # as a multiple of the size of type

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
            text = with_code(block.text)
            yield rf"{{\leftskip {1.5 * block.depth:g}em {text}\par}}" if block.depth else text
        case Bullets():
            yield from [f"{with_code(block.about)}:"] if block.about else []
            yield from (r"\begin{itemize}", *(rf"\item {with_code(item)}" for item in block.items), r"\end{itemize}")
        case NextCommand():
            yield (f"{with_code(block.about)}: " if block.about else "") + rf"\texttt{{{escaped(block.command)}}}"
        case Table():
            fits = partial(_fits, line_pt=line_pt)
            whole = block if fits(block) else replace(block, repeated=max(1, block.repeated))
            pages = (page for part in whole.divided(fits) for page in _pages(part, line_pt))
            for number, part in enumerate(pages):
                yield from [""] if number else []
                yield from _float(part, line_pt)
        case DrawnFigure():
            yield from (r"\begin{figure}", r"\centering", rf"\includegraphics[width=\linewidth]{{{block.name}}}")
            yield from (rf"\caption{{{escaped(block.title)}}}", r"\end{figure}")


def _pages(table: Table, line_pt: float) -> Iterator[Table]:
    """The table in parts that fit a page each. Its footnotes are below the last."""
    size, broken = _type_and_breaks(table, line_pt)
    smallest = _SIZES[_SMALLEST]
    notes = (
        sum(ceil(_text_width(each) * smallest / 10 / line_pt) for each in table.footnotes) * _LINE_SPACING * smallest
    )
    pages, left = [list[tuple[Value, ...]]()], _ROWS_PT - notes
    for row in table.rows:
        # Ragged lines are filled to about three quarters.
        lines = (ceil(_text_width(each.entry(row)) * smallest / 10 / (0.75 * width)) for each, width in broken.items())
        height = max([1, *lines]) * _LINE_SPACING * _SIZES[size]
        if pages[-1] and height > left:
            pages.append([])
            left = _ROWS_PT - notes
        pages[-1].append(row)
        left -= height
    for page in pages:
        yield replace(table, rows=tuple(page), footnotes=table.footnotes if page is pages[-1] else ())


def _type_and_breaks(table: Table, line_pt: float) -> tuple[str, dict[GridColumn, float]]:
    """The largest type in which it fits the line; the widths of columns of words that are broken into lines."""
    size = next((name for name in _SIZES if table_width(table, name) <= line_pt), _SMALLEST)
    return size, _broken_columns(table, grid(table), line_pt) if table_width(table, size) > line_pt else {}


def _float(table: Table, line_pt: float) -> Iterator[str]:
    """A float with the caption, the notes and a `tabular`, in the largest type in which it fits the line."""
    columns = grid(table)
    size, broken = _type_and_breaks(table, line_pt)
    beyond = table_width(table, size) > line_pt
    yield from (r"\begin{table}", r"\centering")
    caption = f"{table.caption}." if table.caption and table.notes else table.caption
    if about := with_code(" ".join(filter(None, [caption, *table.notes]))):
        yield rf"\caption{{{about}}}"
    yield from [size] if size else []
    yield rf"\begin{{tabular}}{{{''.join(_alignment(column, broken) for column in columns)}}}"
    yield r"\toprule"
    yield _row(
        [_title_in_lines(table, each) if beyond and each not in broken else escaped(each.title) for each in columns]
    )
    yield r"\midrule"
    for row in table.rows:
        entries = [column.marked(row, _BOLD, _SUPERSCRIPT, with_code) for column in columns]
        yield _row(
            [_breakable(entry) if column in broken else entry for column, entry in zip(columns, entries, strict=True)]
        )
    yield from (r"\bottomrule", r"\end{tabular}")
    yield from (rf"\par\smallskip\footnotesize {with_code(footnote)}" for footnote in table.footnotes)
    yield r"\end{table}"


def _fits(table: Table, line_pt: float) -> bool:
    """Whether it fits the line in the smallest type, with titles and words in lines."""
    columns = grid(table)
    widths = [(_column_width(table, column, _SMALLEST, by_word=True), column.words) for column in columns]
    widths_in_lines = (min(width, _NARROWEST_WORDS) if words else width for width, words in widths)
    return sum(widths_in_lines) + len(columns) * _COLUMN_SEPARATION <= line_pt


def _title_in_lines(table: Table, column: GridColumn) -> str:
    """The column's title, in as many lines as make it no wider than the entries or its longest word."""
    width = _column_width(table, column, "", by_word=True)
    lines = [""]
    for word in column.title.split():
        longer = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], longer] if _text_width(longer) <= width else [*lines, word]
    lines = [escaped(line) for line in lines if line]
    stacked = r"\\".join(lines)
    return stacked if len(lines) <= 1 else rf"\shortstack[{_side(column)}]{{{stacked}}}"


def table_width(table: Table, size: str = "") -> float:
    """The width of its `tabular` with unbroken entries, at most, points of TeX."""
    columns = grid(table)
    return sum(_column_width(table, column, size) + _COLUMN_SEPARATION for column in columns)


def _column_width(table: Table, column: GridColumn, size: str, *, by_word: bool = False) -> float:
    """The width of its entries and its title, or `by_word` of the title's longest word."""
    titles = column.title.split() if by_word else [column.title]
    entries = (
        _text_width(column.marked(row, "{}", "{}")) * (_BOLD_FACTOR if row[column.place].best else 1)
        for row in table.rows
    )
    return max(*map(_text_width, titles), *entries, 0.0) * _SIZES[size] / 10


def _text_width(text: str) -> float:
    """The width in 10 pt."""
    return sum(
        next((width for group, width in _CHARACTER_WIDTHS.items() if character in group), None)
        or (_CAPITAL if character.isupper() else _OTHER)
        for character in text
    )


def _broken_columns(table: Table, columns: Sequence[GridColumn], line_pt: float) -> dict[GridColumn, float]:
    """The columns of words that are broken into lines, and their widths: they share what the others leave."""
    widths = {column: _column_width(table, column, _SMALLEST, by_word=True) for column in columns}
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
    return _side(column)


def _side(column: GridColumn) -> str:
    return "l" if column.words else "r"


def _breakable(text: str) -> str:
    """A text of LaTeX that may be broken behind slashes, underscores, colons, commas and equals signs, too."""
    return re.sub(r"(\\_|[/:,=])(?=\S)", r"\1\\allowbreak{}", text)


def _row(cells: Sequence[str]) -> str:
    # An empty group first: LaTeX would take a bracket at the start of a row for an argument of the row before it.
    return "{}" * cells[0].startswith("[") + " & ".join(cells) + r" \\"
