"""What better algorithms are expected to save a program, in its seconds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import rank_layouts
from timpani.judge.decide import decide
from timpani.judge.raced import raced_results
from timpani.libraries.registry import library_title
from timpani.programs.profile.profile_folder import ProgramProfile
from timpani.programs.profile.profiled_points import ProfiledPoint, differing_arguments, profiled_points
from timpani.programs.profile.profiled_study import seconds_in_mpi
from timpani.study.cell import TOGETHER, UNPLACED, RankLayout
from timpani.study.point_weights import loss
from timpani.study.schema import point_of
from timpani.study.words import counted


@dataclass(frozen=True)
class PointSaving:
    """One point of the profile against what was measured.

    best             the algorithm that is significantly faster than the default; None: unbeaten, or unmeasured
    saved, low, high seconds of a rank, and the interval that follows from the ratio's
    lost             bound of the seconds that the choice may lose against the best algorithm; without a bound all
    differences      how the measured calls differ from the program's. Of an unmeasured point: why the nearest
                     measurement does not cover it
    """

    point: ProfiledPoint
    measured: bool
    best: str | None = None
    saved: float = 0.0
    low: float = 0.0
    high: float = 0.0
    lost: float = 0.0
    differences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Savings:
    """All points of a profile against campaigns.

    in_mpi     seconds of a rank in MPI
    raced      whether a race bounded what choices lose
    campaigns  their folders
    notes      what a reader should know of them, a sentence each
    """

    points: tuple[PointSaving, ...]
    in_mpi: float = 0.0
    raced: bool = False
    campaigns: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()

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
    def covered(self) -> tuple[PointSaving, ...]:
        """The points that were measured."""
        return tuple(each for each in self.points if each.measured)

    @property
    def covered_seconds(self) -> float:
        """Seconds of the points that were measured."""
        return sum(each.point.seconds for each in self.covered)


@dataclass(frozen=True)
class _Measured:
    """What a campaign decided at one of its points.

    row     as of `decide`
    layout  of the ranks; None where it is unknown
    regret  bound of the choice's regret; infinite without a bound
    """

    campaign: Campaign
    row: dict[str, Any]
    layout: RankLayout | None
    regret: float

    def is_like(self, point: ProfiledPoint) -> bool:
        """Whether it is of the same collective, rank count and class of sizes."""
        called = (self.row["collective"], self.row["ranks"], self.row["message_bytes"].bit_length())
        return called == (point.collective, point.ranks, point.size_class)

    def differences(self, point: ProfiledPoint) -> list[str]:
        """How its calls differ from the program's."""
        arguments = self.campaign.header.study.arguments_of(point.collective)
        arrival = self.row["arrival"]
        late = [] if arrival == TOGETHER else [f"ranks enter {arrival}"]
        return differing_arguments(point.collective, point.called_with, arguments) + late


def expected_savings(profile: ProgramProfile, campaigns: Sequence[Campaign]) -> Savings:
    """What the algorithms that are significantly faster than the default would save, point by point.

    A point is covered by a campaign's point of the same collective, rank count, nodes, ranks per node and class of
    sizes: by the one whose arguments differ least, then by the nearest in size. Its seconds, without waiting, become
    shorter by the measured ratio.
    """
    part = profile.main_part
    measured = [each for campaign in campaigns for each in _measured_points(campaign)]
    return Savings(
        tuple(_saving(point, measured) for point in profiled_points(part)),
        seconds_in_mpi(part),
        any(raced_results(campaign).race is not None for campaign in campaigns),
        tuple(campaign.folder for campaign in campaigns),
        tuple(_notes(profile, campaigns)),
    )


def _measured_points(campaign: Campaign) -> Iterator[_Measured]:
    layouts = rank_layouts(campaign)
    race = raced_results(campaign).race
    regrets = race.regrets if race else {}
    for row in decide(raced_results(campaign)).filter(pl.col("verdict").is_not_null()).iter_rows(named=True):
        layout = None if row["placement"] == UNPLACED else layouts.get((row["ranks"], row["placement"]))
        yield _Measured(campaign, row, layout, regrets.get(point_of(row), inf))


def _notes(profile: ProgramProfile, campaigns: Sequence[Campaign]) -> Iterator[str]:
    used = profile.header.mpi if profile.header else None
    for campaign in campaigns:
        mpi = campaign.header.mpi
        if used and (mpi.kind, mpi.version) != (used.kind, used.version):
            yield (
                f"{campaign.folder} measured {mpi.title}, and the program ran with "
                f"{library_title(used.kind, used.version)}, which may choose and perform differently"
            )


def _saving(point: ProfiledPoint, measured: Sequence[_Measured]) -> PointSaving:
    wanted = RankLayout(point.nodes, point.per_node)
    like = [each for each in measured if each.is_like(point)]
    fitting = [each for each in like if each.layout == wanted]
    if not fitting:
        elsewhere = sorted({_layout_text(each.layout) for each in like})
        why = (f"measured {' and '.join(elsewhere)}; the program runs {_layout_text(wanted)}",) if like else ()
        return PointSaving(point, measured=False, lost=point.seconds, differences=why)

    def distance(each: _Measured) -> tuple[int, int]:
        return len(each.differences(point)), abs(each.row["message_bytes"] - point.message_bytes)

    nearest = min(fitting, key=distance)
    row, lost, differences = nearest.row, point.seconds * loss(nearest.regret), tuple(nearest.differences(point))
    if row["verdict"] != "better" or row["gain"] <= 1:
        return PointSaving(point, measured=True, lost=lost, differences=differences)

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
        differences=differences,
    )


def _layout_text(layout: RankLayout | None) -> str:
    if not layout:
        return "on unknown nodes"
    return f"on {counted(layout.nodes, 'node')} with at most {counted(layout.per_node, 'rank')} each"
