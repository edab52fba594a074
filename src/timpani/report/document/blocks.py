"""The blocks of a document. Text in them is plain, but for `…`, which is code."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from timpani.report.document.table import Table


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
