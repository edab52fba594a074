"""What better algorithms are expected to save a program, in its seconds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import polars as pl

from timpani.programs.profile_lines import ProfilePart
from timpani.programs.profiled_points import ProfiledPoint, profiled_points
from timpani.programs.profiled_study import seconds_in_mpi
from timpani.study.point_weights import PointKey, loss
from timpani.tuning.decide.decide import decide
from timpani.tuning.race.results import RacedResults


@dataclass(frozen=True)
class PointSaving:
    """One point of the profile against what was measured.

    best             the algorithm that is significantly faster than the default; None: unbeaten, or unmeasured
    saved, low, high seconds of a rank, and the interval that follows from the ratio's
    lost             bound of the seconds that the choice may lose against the best algorithm; without a bound all
    """

    point: ProfiledPoint
    measured: bool
    best: str | None = None
    saved: float = 0.0
    low: float = 0.0
    high: float = 0.0
    lost: float = 0.0


@dataclass(frozen=True)
class Savings:
    """All points of a profile against a campaign.

    in_mpi  seconds of a rank in MPI
    raced   whether a race bounded what choices lose
    """

    points: tuple[PointSaving, ...]
    in_mpi: float = 0.0
    raced: bool = False

    @property
    def saved(self) -> float:
        """Seconds of a rank that are expected to be saved."""
        return sum(each.saved for each in self.points)

    @property
    def bounds(self) -> tuple[float, float]:
        """Sums of the points' bounds: at least as wide as the interval of the sum."""
        return sum(each.low for each in self.points), sum(each.high for each in self.points)

    @property
    def lost(self) -> float:
        """Bound of the seconds of a rank that other algorithms would save in addition: the points' bounds added up."""
        return sum(each.lost for each in self.points)

    @property
    def changeable(self) -> float:
        """Seconds that an algorithm could change."""
        return sum(each.point.seconds for each in self.points)

    @property
    def covered(self) -> float:
        """Seconds of the points that were measured."""
        return sum(each.point.seconds for each in self.points if each.measured)


def expected_savings(part: ProfilePart, results: RacedResults) -> Savings:
    """What the algorithms that are significantly faster than the default would save, point by point.

    A point is covered by a campaign's point of the same collective, rank count and class of sizes, the nearest in size.
    Its seconds, without waiting, become shorter by the measured ratio.
    """
    rows = decide(results).filter(pl.col("verdict").is_not_null()).to_dicts()
    race = results.race
    regrets = {point.key: race.standing(point).regret for point in race.points()} if race else {}
    points = tuple(_saving(point, rows, regrets) for point in profiled_points(part))
    return Savings(points, seconds_in_mpi(part), race is not None)


def _saving(point: ProfiledPoint, rows: Iterable[dict[str, Any]], regrets: Mapping[PointKey, float]) -> PointSaving:
    fitting = [
        row
        for row in rows
        if (row["collective"], row["ranks"]) == (point.collective, point.ranks)
        and row["message_bytes"].bit_length() == point.size_class
    ]
    if not fitting:
        return PointSaving(point, measured=False, lost=point.seconds)
    row = min(fitting, key=lambda row: abs(row["message_bytes"] - point.message_bytes))
    lost = point.seconds * loss(regrets.get((point.collective, point.ranks, row["message_bytes"]), inf))
    if row["verdict"] != "better" or row["gain"] <= 1:
        return PointSaving(point, measured=True, lost=lost)

    def saved(gain: float | None, without: float) -> float:
        return point.seconds * (1 - 1 / max(1.0, without if gain is None else gain))

    return PointSaving(
        point,
        measured=True,
        best=row["best_label"],
        saved=saved(row["gain"], 1.0),
        low=saved(row["gain_low"], 1.0),
        high=saved(row["gain_high"], row["gain"]),
        lost=lost,
    )
