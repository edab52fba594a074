"""A conclusion that a study draws from times, the numbers that decide it, and the verdict that follows from them."""

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, Self

import polars as pl

from timpani.errors import UserError, unknown
from timpani.studies.sources import CONCLUSIONS
from timpani.study.cell import DEFAULT, shuffle_seed
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import LARGEST, show_size
from timpani.study.words import counted

HOLDS, FAILS, IN_PART = "holds", "does not hold", "holds in part"
NO_DIFFERENCE, UNDECIDED, NOT_TESTABLE = "no difference", "undecided", "not testable here"

MIN_TIED = 0.8
"""Minimum share of ties among a claim's cases from which they show no difference, rather than a claim that fails."""


MESSAGE_COSTS = ("T_s", "T_c")
"""Fitted costs of a message between two ranks, which conclusions name like operations."""


class MissingTimesError(Exception):
    """The times that a check needs are missing; the message names them."""


@dataclass(frozen=True)
class Claim:
    """A conclusion, as a table of a file of conclusions states it.

    study                 the shipped study that draws it; empty in a user's file
    check                 one of CHECKS; empty if no campaign of the study's file can test it: `needs` names what can
    algorithms            the algorithms of the conclusion
    among                 the algorithms that these are compared with; empty: the default, if the check compares
    bytes                 the size that the conclusion names; 0 without one
    from_bytes, to_bytes  the range of sizes, both ends included
    ranks                 the rank counts; empty: all
    placements            the placements, `category:2` for all that begin so; empty: all
    shuffled              whether host files with shuffled groups are included
    rises, falls          ascending rank counts over which the time should rise, and fall
    printed               a number as the study printed it, `5` or `0.1`
    needs                 what a test of the claim needs
    """

    study: str
    by: str
    says: str
    collective: str
    check: str = ""
    algorithms: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    bytes: int = 0
    from_bytes: int = 0
    to_bytes: int = LARGEST
    ranks: tuple[int, ...] = ()
    placements: tuple[str, ...] = ()
    shuffled: bool = False
    rises: tuple[int, ...] = ()
    falls: tuple[int, ...] = ()
    printed: str = ""
    needs: str = ""

    def with_names(self, rename: Callable[[str], str]) -> Self:
        """The claim with other names of its algorithms."""
        return replace(self, algorithms=tuple(map(rename, self.algorithms)), among=tuple(map(rename, self.among)))

    @property
    def competitors(self) -> tuple[str, ...]:
        """The algorithms with which the claimed ones are compared."""
        return self.among or (DEFAULT,)

    def in_scope(self, times: pl.DataFrame) -> pl.DataFrame:
        """The rows of `times` within the scope of the conclusion, of all algorithms."""
        wanted = (pl.col("collective") == self.collective) & pl.col("message_bytes").is_between(
            self.from_bytes, self.to_bytes
        )
        if self.ranks:
            wanted &= pl.col("ranks").is_in(self.ranks)
        return times.filter(wanted & pl.col("placement").map_elements(self.covers_placement, return_dtype=pl.Boolean))

    def covers_placement(self, placement: str) -> bool:
        """Whether the conclusion covers this placement."""
        if shuffle_seed(placement) is not None and not self.shuffled:
            return False
        return not self.placements or f"{placement}:".startswith(tuple(f"{each}:" for each in self.placements))

    @property
    def scope(self) -> str:
        """The operation, algorithms, sizes, ranks and placements of the conclusion, as text."""
        parts = [f"{self.collective} by {', '.join(self.algorithms)}" if self.algorithms else self.collective]
        if self.from_bytes and self.to_bytes < LARGEST:
            parts.append(" to ".join(dict.fromkeys((show_size(self.from_bytes), show_size(self.to_bytes)))))
        elif self.from_bytes or self.to_bytes < LARGEST:
            parts.append(
                f"from {show_size(self.from_bytes)}" if self.from_bytes else f"up to {show_size(self.to_bytes)}"
            )
        if self.ranks:
            parts.append(f"{' and '.join(map(str, self.ranks))} ranks")
        for direction, counts in (("rising", self.rises), ("falling", self.falls)):
            parts += [f"{direction} over {', '.join(map(str, counts))} ranks"] if counts else []
        if self.placements:
            parts.append(f"placed by {' and '.join(self.placements)}")
        return ", ".join(parts)


_FIELDS = {each.name: {tuple: list, bool: bool, int: int}.get(type(each.default), str) for each in fields(Claim)}
"""The keys of a conclusion in a file, and of which type TOML gives each."""


def claims_of(study: str) -> list[Claim]:
    """The conclusions of the shipped study `study`, in the file's order; none of a study without a file."""
    path = CONCLUSIONS / f"{study}.toml"
    return read_claims(path) if path.exists() else []


def read_claims(path: Path) -> list[Claim]:
    """The conclusions of a file, shipped or a user's; UserError where it is no such file."""
    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}", "docs/how-to/check-published-studies.md shows one") from None
    tables = whole.get("claims")
    if not isinstance(tables, list) or not tables:
        raise UserError(f"{path} has no [[claims]]", "docs/how-to/check-published-studies.md shows one")
    return [_claim(table, str(whole.get("study", "")), str(whole.get("by", path.stem)), path) for table in tables]


def _claim(table: dict[str, Any], study: str, by: str, path: Path) -> Claim:
    for name, value in table.items():
        if name not in _FIELDS:
            raise unknown(f"key of a conclusion in {path}", name, _FIELDS, "docs/how-to/check-published-studies.md")
        if type(value) is not (kind := _FIELDS[name]):
            raise UserError(f"{path}: {name} = {value!r} is no {kind.__name__}", "write a value of this kind")
    for name in ("says", "collective", "check"):
        if name not in table and not (name == "check" and "needs" in table):
            raise UserError(f"{path}: a conclusion lacks {name}", "each has says, collective and check")
    if (operation := table["collective"]) not in (known := (*OPERATIONS, *MESSAGE_COSTS)):
        raise unknown(f"collective in {path}", operation, known, "timpani list operations")
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    return Claim(study, by, **values)


@dataclass(frozen=True)
class Line:
    """The values that confirm a conclusion, from `low` to `high`; up to `tie` times beyond an end a value is a tie."""

    low: float = 0.0
    high: float = inf
    tie: float = 1.0

    def answer(self, value: float) -> bool | None:
        """Whether a value confirms or contradicts; None for a tie."""
        if self.low <= value <= self.high:
            return True
        return None if self.low / self.tie < value < self.high * self.tie else False

    def distance(self, value: float) -> float:
        """By which factor the value lies beyond the line."""
        return max(self.low / value, value / self.high) if value > 0 else inf


@dataclass(frozen=True)
class Case:
    """A number that decides a claim at one point, or over one curve.

    low, high      bounds of `value`; None for single runs; 0 and infinity where too few launches bound nothing
    ranks, bytes   of the case; None if it covers several
    part           of the claim: each part has to hold
    """

    where: str
    value: float
    low: float | None
    high: float | None
    line: Line
    ranks: int | None = None
    bytes: int | None = None
    part: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether it confirms the claim; None for a tie, or if the bounds do not decide."""
        found = {self.line.answer(each) for each in (self.value, self.low, self.high) if each is not None}
        spans = (
            self.low is not None and self.high is not None and self.low < self.line.low <= self.line.high < self.high
        )
        return found.pop() if len(found) == 1 and not spans else None

    @property
    def tied(self) -> bool:
        """Whether the two sides are equal within what makes a difference."""
        return {self.line.answer(each) for each in (self.value, self.low, self.high) if each is not None} == {None}

    @property
    def is_open(self) -> bool:
        """Whether the bounds lie on both sides of the threshold."""
        return self.holds is None and not self.tied


@dataclass(frozen=True)
class Check:
    """A kind of conclusion.

    words     describe the value of a case and the values that confirm, with fields that `measure` fills in
    cases     all cases, none or MissingTimesError where times are missing; takes a claim with the labels of the times,
              and the times in its scope
    competes  whether the claimed algorithms are compared with others, without any named with the default
    """

    words: str
    cases: Callable[[Claim, pl.DataFrame], list[Case]]
    competes: bool = False

    def measure(self, claim: Claim) -> str:
        """The words for a claim."""
        others = f"the lowest of {', '.join(claim.among)}" if claim.among else "the default's"
        return self.words.format(claim, others=others, size=show_size(claim.bytes), end=show_size(claim.to_bytes))


@dataclass(frozen=True)
class ClaimResult:
    """The result of checking a claim.

    verdict  one of the six above
    measure  describes the value of a case and the threshold
    cases    the numbers that decide
    why      why the claim can't be tested and what is needed to test it; else ""
    """

    claim: Claim
    verdict: str
    measure: str
    cases: tuple[Case, ...] = ()
    why: str = ""

    @property
    def holding(self) -> int:
        """Number of cases that hold."""
        return sum(case.holds is True for case in self.cases)


def check_claim(claim: Claim, check: Check | None, times: pl.DataFrame, label_of: Callable[[str], str]) -> ClaimResult:
    """Check `claim` with `times`, columns as of `claim_times`; `check` is its kind, None: nothing can check it.

    label_of  gives the label in `times` of an algorithm as study files name it
    """
    if not check:
        return ClaimResult(claim, NOT_TESTABLE, "", why=f"it takes {claim.needs}")
    measure = check.measure(claim)
    if times.is_empty():
        return ClaimResult(claim, NOT_TESTABLE, measure, why="there are no times")
    needed = f"it takes {claim.needs or f'times of {claim.scope}'}"
    named = claim.with_names(lambda name: label_of(name) if "/" in name else name)
    scoped = named.in_scope(times)
    try:
        cases = tuple(check.cases(named, scoped)) if scoped.height else ()
    except MissingTimesError as missing:
        return ClaimResult(claim, NOT_TESTABLE, measure, why=f"{missing}; {needed}")
    if not cases:
        return ClaimResult(claim, NOT_TESTABLE, measure, why=needed)
    return ClaimResult(claim, verdict_of(cases), measure, cases)


def verdict_of(cases: Iterable[Case]) -> str:
    """The verdict on a claim with these cases.

    holds          no case contradicts it, and at least half hold: the others are ties
    holds in part  some cases contradict it, and at least half hold
    no difference  at least MIN_TIED of the cases are ties
    does not hold  fewer than half hold
    undecided      the cases that the intervals leave open would change the verdict

    Each part of a claim has a verdict; a claim without one of its parts does not hold.
    """
    parts: dict[str, list[Case]] = {}
    for case in cases:
        parts.setdefault(case.part, []).append(case)
    verdicts = set(map(_verdict_of_part, parts.values()))
    if len(verdicts) == 1:
        return verdicts.pop()
    return FAILS if verdicts & {FAILS, NO_DIFFERENCE} else UNDECIDED if UNDECIDED in verdicts else IN_PART


def _verdict_of_part(cases: list[Case]) -> str:
    for_it = sum(case.holds is True for case in cases)
    against = sum(case.holds is False for case in cases)
    still_open = sum(case.is_open for case in cases)
    tied = len(cases) - for_it - against - still_open
    verdicts = {
        _verdict(for_it + still_open, against, tied),
        _verdict(for_it, against + still_open, tied),
        _verdict(for_it, against, tied + still_open),
    }
    return verdicts.pop() if len(verdicts) == 1 else UNDECIDED


def _verdict(for_it: int, against: int, tied: int) -> str:
    cases = for_it + against + tied
    if tied >= MIN_TIED * cases:
        return NO_DIFFERENCE
    if 2 * for_it < cases:
        return FAILS
    return IN_PART if against else HOLDS


def where_it_fails(cases: Iterable[Case]) -> list[str]:
    """The sizes, and the rank counts, at which not all cases hold, neighbors together; nothing where that is at all."""
    found = []
    for field, show in (("bytes", show_size), ("ranks", lambda ranks: counted(ranks, "rank"))):
        parts: dict[int, list[bool]] = {}
        for case in cases:
            if (value := getattr(case, field)) is not None:
                parts.setdefault(value, []).append(case.holds is True)
        runs = [(holds, [*run]) for holds, run in groupby(sorted(parts.items()), key=lambda part: all(part[1]))]
        found += [_run(run, show) for holds, run in runs if not holds and len(runs) > 1]
    return found


def _run(parts: list[tuple[int, list[bool]]], show: Callable[[int], str]) -> str:
    held = [each for _, part in parts for each in part]
    ends = dict.fromkeys((show(parts[0][0]), show(parts[-1][0])))
    return f"{' to '.join(ends)} ({held.count(False)} of {len(held)})"
