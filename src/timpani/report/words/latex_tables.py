"""A campaign's cells as LaTeX tables, with the rules of the package booktabs."""

from collections.abc import Iterator

import polars as pl

from timpani.report.words.campaign_text import Block, blocks

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
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def cell_latex(cells: pl.DataFrame) -> str:
    """A `tabular` for each of `blocks`, its heading and notes as comments above it."""
    return "\n".join("\n".join(_tabular(each)) + "\n" for each in blocks(cells))


def escaped(text: str) -> str:
    """`text` such that LaTeX prints it as it is."""
    return text.translate(_ESCAPED)


def _tabular(block: Block) -> Iterator[str]:
    for line in (block.heading, *block.notes):
        yield f"% {' '.join(line.split())}"
    heads, *rows = block.rows
    yield rf"\begin{{tabular}}{{l{'r' * (len(heads) - 2)}l}}"
    yield r"\toprule"
    yield _row(heads)
    yield r"\midrule"
    yield from map(_row, rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _row(cells: tuple[str, ...]) -> str:
    # An empty group first: LaTeX would take a bracket at the start of a row for an argument of the row before it.
    return "{}" * cells[0].startswith("[") + " & ".join(map(escaped, cells)) + r" \\"
