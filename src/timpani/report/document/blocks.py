"""The blocks of a document. Text in them is plain, but for `…`, which is code."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, isfinite
from typing import Any

from timpani.study.words import UNKNOWN, significant

Content = str | float | None


@dataclass(frozen=True)
class Value:
    """An entry of a table: words, a number, or None for what is unknown.

    low, high  the interval of a number; None or infinite: an unknown bound
    detail     words that stand smaller next to it
    marks      letters that a footnote explains
    best       it is set in bold
    show       how a number and its bounds are printed; by default integers as they are, others with three digits
    """

    content: Content
    low: float | None = None
    high: float | None = None
    detail: str = ""
    marks: str = ""
    best: bool = False
    show: Callable[[Any], str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is a known number."""
        return isinstance(self.content, int | float) and isfinite(self.content)

    @property
    def text(self) -> str:
        """What it holds, without interval, detail and marks."""
        return self.content if isinstance(self.content, str) else self._printed(self.content)

    @property
    def annotation(self) -> str:
        """The interval and the detail; empty without them."""
        bounds = (_known(self.low), _known(self.high))
        interval = " to ".join(map(self._printed, bounds)) if bounds != (None, None) else ""
        return ", ".join(filter(None, (interval, self.detail)))

    def _printed(self, number: float | None) -> str:
        if number is None or not isfinite(number):
            return UNKNOWN
        return (self.show or (str if isinstance(number, int) else significant))(number)


MISSING = Value(None)


def _known(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


Rows = tuple[tuple[Value, ...], ...]


def rows(values: Iterable[Iterable[Any]]) -> Rows:
    """Rows of a table, of values, words, numbers, and None for what is unknown."""
    return tuple(tuple(each if isinstance(each, Value) else Value(each) for each in row) for row in values)


@dataclass(frozen=True)
class Table:
    """Rows of values; the first value of each row is its head.

    name        of the block, for tests and JSON
    columns     titles; the first one is that of the heads
    annotation  title of the column of what stands next to values, such as `95 % interval`
    notes       sentences above the table, and under it `footnotes`
    wraps       its entries are sentences or commands, which are broken into lines
    repeated    columns at the left that each part repeats if a table is too wide for a page; 0: it is never divided
    """

    name: str
    columns: tuple[str, ...]
    rows: Rows
    caption: str = ""
    annotation: str = "interval"
    notes: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    wraps: bool = False
    repeated: int = 0

    @classmethod
    def of_texts(cls, texts: Sequence[Sequence[str]], wraps: bool = False) -> "Table | None":
        """The rows under their headings; None without rows."""
        return cls("", tuple(texts[0]), rows(texts[1:]), wraps=wraps) if texts[1:] else None

    def column(self, title: str) -> list[Value]:
        """The values of a column from top to bottom."""
        place = self.columns.index(title)
        return [row[place] for row in self.rows]

    def at(self, head: Content, title: str) -> Value:
        """The value in the row with this head."""
        return next(value for row, value in zip(self.rows, self.column(title), strict=True) if row[0].content == head)

    def divided(self, fits: Callable[["Table"], bool]) -> list["Table"]:
        """The table, or parts of it that all fit, each with about as many columns."""
        kept, others = self.repeated, list(range(self.repeated, len(self.columns)))
        if not kept or not others:
            return [self]
        for count in range(1, len(others) + 1):
            length = ceil(len(others) / count)
            groups = (others[start : start + length] for start in range(0, len(others), length))
            parts = [self._with_columns([*range(kept), *group]) for group in groups]
            if all(map(fits, parts)):
                return parts
        return parts

    def _with_columns(self, places: Sequence[int]) -> "Table":
        rows = (tuple(row[place] for place in places) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in places), rows=tuple(rows))


@dataclass(frozen=True)
class GridColumn:
    """A column of text: a table's column, or what stands next to the values of one.

    place   of the column in its table
    annotation  whether it holds what stands next to the values
    words   whether its entries are words, which are flush left
    """

    title: str
    place: int
    annotation: bool
    words: bool

    def entry(self, row: Sequence[Value]) -> str:
        """Its text in a row, without marks."""
        value = row[self.place]
        return value.annotation if self.annotation else value.text

    def marked(
        self, row: Sequence[Value], best: str, marks: str, escaped: Callable[[str], str] = lambda text: text
    ) -> str:
        """Its text in a row; `best` and `marks` are formats for the text of the best value and for its marks."""
        value, text = row[self.place], escaped(self.entry(row))
        if self.annotation:
            return text
        text = best.format(text) if value.best else text
        return text + marks.format(value.marks) if value.marks else text


def _are_words(values: Sequence[Value]) -> bool:
    return any(isinstance(each.content, str) for each in values) and not any(each.is_number for each in values)


def grid(table: Table) -> list[GridColumn]:
    """The columns of text of a table: two where something stands next to values."""
    return list(_grid(table))


def _grid(table: Table) -> Iterator[GridColumn]:
    for place, title in enumerate(table.columns):
        values = [row[place] for row in table.rows]
        yield GridColumn(title, place, annotation=False, words=_are_words(values))
        if any(value.annotation for value in values):
            is_interval = all(value.is_number or not value.annotation for value in values)
            yield GridColumn(table.annotation if is_interval else "", place, annotation=True, words=not is_interval)


@dataclass(frozen=True)
class Heading:
    """The title of what follows it."""

    name: str
    text: str
    level: int = 2


@dataclass(frozen=True)
class Sentence:
    """One statement, or a few that belong together.

    values  the numbers and names in it, for JSON and tests
    depth   how far it is indented: it belongs to the sentence above it that has a smaller depth
    """

    name: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    depth: int = 0


@dataclass(frozen=True)
class Bullets:
    """A list, under what introduces it."""

    name: str
    items: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True)
class DrawnFigure:
    """A drawn figure: `svg` draws it. Formats of text alone leave it out."""

    name: str
    title: str
    svg: Callable[[], str]


@dataclass(frozen=True)
class NextCommand:
    """A command to type, and what it is for."""

    name: str
    command: str
    about: str = ""
    depth: int = 0


Block = Heading | Sentence | Bullets | Table | DrawnFigure | NextCommand


@dataclass(frozen=True)
class Document:
    """What a command prints, or a page shows."""

    title: str
    blocks: tuple[Block, ...]

    def with_name(self, name: str) -> Iterator[Any]:
        """The blocks with this name."""
        return (block for block in self.blocks if block.name == name)

    def __getitem__(self, name: str) -> Any:
        """The first block with this name; KeyError without one."""
        for block in self.with_name(name):
            return block
        raise KeyError(name)

    def __contains__(self, name: str) -> bool:
        return any(self.with_name(name))
