"""A table as the report sets it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """An entry: `detail` stands smaller beside `text`, `marks` are letters of `tables.MARKS`, `best` is set in bold."""

    text: str
    detail: str = ""
    marks: str = ""
    best: bool = False


MISSING = Value("–")


@dataclass(frozen=True)
class Table:
    """A table with its row heads; as many values in each row as there are columns.

    wraps  whether its entries are sentences or commands, which are broken into lines
    """

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Value, ...]], ...]
    wraps: bool = False
