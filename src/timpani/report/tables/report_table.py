"""A table, as every output of Timpani sets it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """An entry: `detail` stands smaller next to `text`, or in a separate column; `marks` are letters of `MARKS`;
    `best` is set in bold."""

    text: str
    detail: str = ""
    marks: str = ""
    best: bool = False


MISSING = Value("–")


@dataclass(frozen=True)
class Table:
    """A table with its row heads; as many values in each row as there are columns.

    wraps      whether its entries are sentences or commands, which are broken into lines
    notes      sentences above the table
    footnotes  sentences under it
    heads      what `text` and `detail` of its values are called where they stand in columns next to each other
    words      columns of words, which are flush left
    """

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Value, ...]], ...]
    wraps: bool = False
    notes: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    heads: tuple[str, str] = ("", "")
    words: tuple[str, ...] = ()

    @classmethod
    def of_texts(cls, rows: Sequence[tuple[str, ...]], wraps: bool = False) -> "Table | None":
        """The rows under their headings; None without rows."""
        head, *others = rows
        if not others:
            return None
        return cls("", head[0], head[1:], tuple((row[0], tuple(map(Value, row[1:]))) for row in others), wraps)
