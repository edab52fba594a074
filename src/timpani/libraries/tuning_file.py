"""The files that define which algorithm a library chooses where: written, read, checked, switched on."""

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue, Parameters
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import Call, Rule, SelectionTable, Span, overlap


@dataclass(frozen=True)
class LeftOut:
    """A rule, or a condition of it, that a file's format can't say."""

    rule: Rule
    why: str


def share_calls(rule: Rule, other: Rule) -> bool:
    """Whether both decide a call of one collective, by its ranks and its size, wherever the ranks are."""
    same = rule.collective == other.collective
    return same and overlap(rule.ranks, other.ranks) and overlap(rule.sizes, other.sizes)


def differ_by_nodes(rule: Rule, other: Rule) -> bool:
    """Whether two rules for the same calls choose differently by where the ranks are."""
    spread = (rule.nodes, rule.per_node) != (other.nodes, other.per_node)
    return spread and share_calls(rule, other) and rule.algorithm != other.algorithm


MAX_RANK_COUNTS = 256
"""That one rule is written out for: libraries look through them when a communicator starts, or at each call."""


def rank_counts(ranks: Span) -> range | None:
    """Each of these counts, for formats in which sizes are multiplied by ranks; None if they are too many."""
    if ranks.last is None or ranks.last - ranks.first >= MAX_RANK_COUNTS:
        return None
    return range(ranks.first, ranks.last + 1)


@dataclass(frozen=True)
class Written:
    """A file's text, the table that it says, and what of the table asked for it leaves out.

    Where a format can't express a condition (how many nodes there are, say), the rule in `said` lacks it and `left_out`
    names it; a rule that would be wrong without its condition is left out whole.
    """

    text: str
    said: SelectionTable
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class Fault:
    """A fault of a file: its place, its consequence, and its correction.

    severity  `error`: the library ignores the file, ends the program or sends wrong data. `warning`: the library does
              something else than the file seems to say. `note`: the file is right, but has no effect in some places or
              may not mean what it seems to
    line      counted from 1; None: the whole file, or how it is switched on
    """

    severity: Literal["error", "warning", "note"]
    line: int | None
    what: str
    consequence: str
    fix: str


def name_fix(name: str, known: Iterable[str], otherwise: str) -> str:
    """How to correct a name that is unknown: the nearest one that is known, or what to do `otherwise`."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"write {near[0]}" if near else otherwise


MAX_FAULTS = 200
"""Faults of one file that are printed."""


def first_faults(found: Iterable[Fault]) -> Iterator[Fault]:
    """The first `MAX_FAULTS` by their lines, and whether there are more."""
    by_line = sorted(found, key=lambda each: each.line or 0)
    yield from by_line[:MAX_FAULTS]
    if len(by_line) > MAX_FAULTS:
        what = f"there are more than {MAX_FAULTS} such faults"
        yield Fault("warning", None, what, "the others are not listed", "correct these first")


def refuse_errors(faults: Iterable[Fault]) -> None:
    """UserError for the first of `faults` that is an error."""
    for fault in faults:
        if fault.severity == "error":
            raise UserError(f"line {fault.line}: {fault.what}; {fault.consequence}", fault.fix)


class FileDecisions(Protocol):
    """A file that was read: what the library chooses by it."""

    def decide(self, call: Call) -> Algorithm | None:
        """The algorithm for `call`, by its canonical name where the catalogue has one; None: the library's default.

        A file that holds all that the library chooses by names the default's choice, too.
        """
        ...


class TuningFile(ABC):
    """One format of one library, which users and Timpani write, and Timpani reads."""

    name: str
    """The file's name in the folder that `timpani tune` writes."""

    title: str
    """What it is, for people: `Open MPI's rules for coll/tuned`."""

    since: tuple[int, ...] = ()
    """The first version of the library that reads it."""

    until: tuple[int, ...] | None = None
    """The first version that no longer reads it; None: all later versions do."""

    def is_read_by(self, mpi: Mpi) -> bool:
        """Whether this version of the library reads it."""
        return self.since <= mpi.numbers and (self.until is None or mpi.numbers < self.until)

    @abstractmethod
    def recognizes(self, text: str) -> bool:
        """Whether `text` seems to be such a file, right or wrong."""

    @abstractmethod
    def read(self, text: str, catalogue: Catalogue) -> FileDecisions:
        """What the library does by `text`. UserError, with the line, where it would refuse or ignore it."""

    def default(self, catalogue: Catalogue, mpi: Mpi) -> FileDecisions | None:
        """What the library chooses without a file; None where its decisions are compiled, and can't be read."""
        return None

    @abstractmethod
    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """All that is wrong with it, or does something else than it seems to say, for this library."""

    @abstractmethod
    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """The file that says `table`; `catalogue` has the algorithms of `mpi`."""

    @abstractmethod
    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """The parameters of the library that make it read the file at `path`, which holds `text`."""
