"""A conclusion that a study draws from times, and the numbers that decide it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import polars as pl

from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import DEFAULT
from timpani.study.placement import UNPLACED, shuffle_seed
from timpani.study.sizes import LARGEST, show_size
from timpani.study.words import counted

CURVE = ("collective", "label", "ranks", "placement", "mode", "machine")
"""Columns that all times of one curve over sizes share."""

PLACE = ("collective", "ranks", "placement", "mode", "machine", "message_bytes")
"""The point at which algorithms are compared."""

FASTER, SLOWER = INDIFFERENCE
"""Ratios beyond which an algorithm is faster or slower: smaller differences make none to a user."""

Test = Callable[[float], bool]


class MissingTimesError(Exception):
    """The times that a check needs are missing; the message names them."""


@dataclass(frozen=True)
class Claim:
    """A conclusion of a study, fields as in published/conclusions.toml.

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

    @classmethod
    def read(cls, row: dict[str, Any]) -> Self:
        """A claim from a table of published/conclusions.toml."""
        values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in row.items()}
        return cls(**values)

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
            ends = dict.fromkeys((show_size(self.from_bytes), show_size(self.to_bytes)))
            parts.append(" to ".join(ends))
        elif self.from_bytes or self.to_bytes < LARGEST:
            parts.append(
                f"from {show_size(self.from_bytes)}" if self.from_bytes else f"up to {show_size(self.to_bytes)}"
            )
        if self.ranks:
            parts.append(f"{' and '.join(map(str, self.ranks))} ranks")
        if self.placements:
            parts.append(f"placed by {' and '.join(self.placements)}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Case:
    """A number that decides a claim at one point, or over one curve.

    low, high      bounds of `value`; None for single runs
    holds          whether the claim holds here; None for a tie, or if the bounds do not decide
    tied           whether the two sides are equal within what makes a difference
    ranks, bytes   of the case; None if it covers several
    """

    where: str
    value: float
    low: float | None
    high: float | None
    holds: bool | None = None
    tied: bool = False
    ranks: int | None = None
    bytes: int | None = None

    def decided(self, holds: Test, fails: Test | None = None) -> Self:
        """The case decided by its value and bounds: it holds or fails if all of them do, and is a tie if none does.

        fails  None: what does not hold fails
        """
        known = [each for each in (self.value, self.low, self.high) if each is not None]
        answers = {True if holds(each) else False if fails is None or fails(each) else None for each in known}
        surely = next(iter(answers)) if len(answers) == 1 else None
        return replace(self, holds=surely, tied=answers == {None})

    @property
    def least(self) -> float:
        """The lower bound, or the value without bounds."""
        return self.value if self.low is None else self.low

    @property
    def most(self) -> float:
        """The upper bound, or the value without bounds."""
        return self.value if self.high is None else self.high

    @property
    def is_open(self) -> bool:
        """Whether the bounds lie on both sides of the threshold."""
        return self.holds is None and not self.tied


@dataclass(frozen=True)
class Check:
    """A kind of conclusion.

    measure  describes the value of a case and the threshold, as text
    cases    all cases, or MissingTimesError; takes a claim with the labels of the times, and the times in its scope
    """

    measure: Callable[[Claim], str]
    cases: Callable[[Claim, pl.DataFrame], list[Case]]


def times_of(times: pl.DataFrame, labels: Iterable[str]) -> pl.DataFrame:
    """The times of these algorithms; MissingTimesError names the algorithms without times."""
    wanted = list(labels)
    missing = sorted(set(wanted) - set(times["label"]))
    if missing:
        raise MissingTimesError(f"no times of {', '.join(missing)}")
    return times.filter(pl.col("label").is_in(wanted))


def ratios_to(times: pl.DataFrame, others: pl.DataFrame, on: tuple[str, ...]) -> pl.DataFrame:
    """`times` with the column `ratio` to the other time at the same `on`, and `ratio_low` and `ratio_high`.

    A bound divides one interval's end by the other's opposite end, so that the bounds are conservative.
    """
    renamed = others.select(*on, other_us="time_us", least_us="low_us", most_us="high_us")
    return times.join(renamed, on=on, maintain_order="left").with_columns(
        (pl.col("time_us") / pl.col("other_us")).alias("ratio"),
        (pl.col("low_us") / pl.col("most_us")).alias("ratio_low"),
        (pl.col("high_us") / pl.col("least_us")).alias("ratio_high"),
    )


def distances(rows: pl.DataFrame, average: Callable[[pl.Expr], pl.Expr]) -> dict[str, Case]:
    """The distance of each label in rows of `ratios_to`, undecided: the mean or median of |ln ratio| over its points.

    The lower bound at a point is 0 if the bounds of its ratio lie on both sides of 1.
    """
    logs = [pl.col(name).log() for name in ("ratio", "ratio_low", "ratio_high")]
    apart = pl.min_horizontal(logs[1].abs(), logs[2].abs())
    least = pl.when(logs[1].sign() == logs[2].sign()).then(apart).otherwise(0.0)
    bounded = pl.col("ratio_low").is_not_null().all() & pl.col("ratio_high").is_not_null().all()
    found = rows.group_by("label").agg(
        average(logs[0].abs()).alias("value"),
        pl.when(bounded).then(average(least)).alias("low"),
        pl.when(bounded).then(average(pl.max_horizontal(logs[1].abs(), logs[2].abs()))).alias("high"),
    )
    return {label: Case(label, value, low, high) for label, value, low, high in found.iter_rows()}


def cases_of(rows: pl.DataFrame, holds: Test, fails: Test | None = None) -> list[Case]:
    """A case for each row of `ratios_to`, as `Case.decided` decides it."""
    return [
        Case(
            _point_name(row),
            row["ratio"],
            row["ratio_low"],
            row["ratio_high"],
            ranks=row["ranks"],
            bytes=row["message_bytes"],
        ).decided(holds, fails)
        for row in rows.to_dicts()
    ]


def cases_of_faster(rows: pl.DataFrame) -> list[Case]:
    """A case for each row of `ratios_to`, which holds if the time is shorter than the other one."""
    return cases_of(rows, lambda ratio: ratio <= FASTER, lambda ratio: ratio >= SLOWER)


def require_cases(cases: list[Case], message: str) -> list[Case]:
    """The cases; MissingTimesError without any."""
    if not cases:
        raise MissingTimesError(message)
    return cases


def _point_name(row: dict[str, Any]) -> str:
    parts = [counted(row["ranks"], "rank")]
    if row["label"] != DEFAULT:
        parts.insert(0, row["label"])
    if row["placement"] != UNPLACED:
        parts.append(row["placement"])
    return ", ".join([*parts, *([show_size(row["message_bytes"])] if row["message_bytes"] else [])])
