"""A conclusion that a study draws from times, and the numbers that it rests on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from timpani.study.cell import DEFAULT
from timpani.study.counted import counted
from timpani.study.sizes import show_size

CURVE = ("collective", "label", "ranks", "placement", "mode", "machine")
PLACE = ("collective", "ranks", "placement", "mode", "machine", "message_bytes")
"""What a curve has in common, and what algorithms are compared at, in the times that claims are checked against."""


class LackingTimesError(Exception):
    """The times lack what a check takes; says what."""


@dataclass(frozen=True)
class Claim:
    """A conclusion of a study, fields as in published/studies.toml.

    algorithms  whose claim it is about
    among       its rivals, where the check has some
    bytes       the size that it names, 0 where it names none
    """

    study: str
    by: str
    says: str
    check: str
    collective: str
    algorithms: tuple[str, ...]
    bytes: int = 0
    among: tuple[str, ...] = ()

    def called(self, rename: Callable[[str], str]) -> "Claim":
        """The same with other names of its algorithms."""
        return replace(self, algorithms=tuple(map(rename, self.algorithms)), among=tuple(map(rename, self.among)))


@dataclass(frozen=True)
class Case:
    """A number that a claim rests on.

    low, high  its bounds; None where it is of single runs
    holds      whether the claim does here; None where the bounds lie on both sides of the line
    """

    where: str
    value: float
    low: float | None
    high: float | None
    holds: bool | None


@dataclass(frozen=True)
class Check:
    """A kind of claim.

    measure  what the values of its cases are, and where the line is drawn
    cases    all of them, or LackingTimesError; the labels in the claim are those of the times, all of its collective
    """

    measure: Callable[[Claim], str]
    cases: Callable[[Claim, pl.DataFrame], list[Case]]


def times_of(times: pl.DataFrame, labels: Iterable[str]) -> pl.DataFrame:
    """The times of these algorithms; LackingTimesError names those that have none."""
    wanted = list(labels)
    missing = sorted(set(wanted) - set(times["label"]))
    if missing:
        raise LackingTimesError(f"no times of {', '.join(missing)}")
    return times.filter(pl.col("label").is_in(wanted))


def over(times: pl.DataFrame, others: pl.DataFrame, on: tuple[str, ...]) -> pl.DataFrame:
    """`times` with the column `ratio` to the other time at the same `on`, and `ratio_low` and `ratio_high`.

    A bound takes one interval's end with the other's opposite end, so that they are wider than need be.
    """
    renamed = others.select(
        *on, pl.col("time_us").alias("other_us"), pl.col("low_us").alias("least_us"), pl.col("high_us").alias("most_us")
    )
    return times.join(renamed, on=on, maintain_order="left").with_columns(
        (pl.col("time_us") / pl.col("other_us")).alias("ratio"),
        (pl.col("low_us") / pl.col("most_us")).alias("ratio_low"),
        (pl.col("high_us") / pl.col("least_us")).alias("ratio_high"),
    )


def over_default(labels: Iterable[str], times: pl.DataFrame) -> pl.DataFrame:
    """These algorithms' times over the default's, curve by curve."""
    found = over(times_of(times, labels), times_of(times, [DEFAULT]), PLACE).drop_nulls("ratio")
    if found.is_empty():
        raise LackingTimesError("the algorithm and the default have no point in common")
    return found.sort(*CURVE, "message_bytes")


@dataclass(frozen=True)
class Distance:
    """How far an algorithm's times are from others': a mean or median of |ln ratio|; bounds None without intervals."""

    value: float
    low: float | None
    high: float | None

    @property
    def least(self) -> float:
        """The least that it may be."""
        return self.value if self.low is None else self.low

    @property
    def most(self) -> float:
        """The most that it may be."""
        return self.value if self.high is None else self.high


def distances(rows: pl.DataFrame, summed_up: Callable[[pl.Expr], pl.Expr]) -> dict[str, Distance]:
    """Of each label in rows of `over`, |ln ratio| over all of its points, summed up by a mean or median.

    The least of a point is 0 where the bounds of its ratio lie on both sides of 1.
    """
    logs = [pl.col(name).log() for name in ("ratio", "ratio_low", "ratio_high")]
    apart = pl.min_horizontal(logs[1].abs(), logs[2].abs())
    least = pl.when(logs[1].sign() == logs[2].sign()).then(apart).otherwise(0.0)
    bounded = pl.col("ratio_low").is_not_null().all() & pl.col("ratio_high").is_not_null().all()
    told = rows.group_by("label").agg(
        summed_up(logs[0].abs()).alias("value"),
        pl.when(bounded).then(summed_up(least)).alias("low"),
        pl.when(bounded).then(summed_up(pl.max_horizontal(logs[1].abs(), logs[2].abs()))).alias("high"),
    )
    return {label: Distance(value, low, high) for label, value, low, high in told.iter_rows()}


def under(line: float, rows: pl.DataFrame) -> list[Case]:
    """A case for each row of `over`, which holds where the ratio is at most `line`."""
    return [_case(row, row["ratio_high"], row["ratio_low"], lambda ratio: ratio <= line) for row in rows.to_dicts()]


def at_least(line: float, rows: pl.DataFrame) -> list[Case]:
    """A case for each row of `over`, which holds where the ratio is at least `line`."""
    return [_case(row, row["ratio_low"], row["ratio_high"], lambda ratio: ratio >= line) for row in rows.to_dicts()]


def some(cases: list[Case], lacking: str) -> list[Case]:
    """The cases; LackingTimesError where there are none."""
    if not cases:
        raise LackingTimesError(lacking)
    return cases


def _case(row: dict[str, Any], worst: float | None, best: float | None, holds: Callable[[float], bool]) -> Case:
    """It holds where even its worst bound does, and doesn't where not even its best one does."""
    value = row["ratio"]
    surely, possibly = (holds(value if bound is None else bound) for bound in (worst, best))
    return Case(_where(row), value, row["ratio_low"], row["ratio_high"], surely if surely == possibly else None)


def _where(row: dict[str, Any]) -> str:
    parts = [counted(row["ranks"], "rank")]
    if row["label"] != DEFAULT:
        parts.insert(0, row["label"])
    if row["placement"] != "unknown":
        parts.append(row["placement"])
    return ", ".join([*parts, show_size(row["message_bytes"])])
