"""How much a race may lose at each point, by the time that a program spends in the point's calls.

A choice with a regret of r loses the share r / (1 + r) of its time. Over a program the points with shares w of its time
in MPI lose Σ w r / (1 + r). The race may lose a given share of that time. Points with little time are not measured:
they may lose all of it. The rest is divided among the other points so that measuring takes least time: a point's
launches grow as 1 / loss², so losses are proportional to w^(-1/3).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from timpani.study.cell import TOGETHER, Cell

UNMEASURED_PART = 0.5
"""Of what a race may lose, the most that points without a measurement may lose: a point takes some launches however
large its accepted regret is."""

PointKey = tuple[str, int, str, int]
"""Collective, ranks, placement and bytes of a point of a study for a program."""


@dataclass(frozen=True, order=True)
class Point:
    """Where algorithms compete; `machine` distinguishes campaigns that are read together."""

    collective: str
    ranks: int
    placement: str
    message_bytes: int
    mode: str
    machine: str = ""
    arrival: str = TOGETHER

    @property
    def key(self) -> PointKey:
        """The point in the calls of a program."""
        return self.collective, self.ranks, self.placement, self.message_bytes

    @classmethod
    def from_cell(cls, cell: Cell) -> Self:
        """The point of `cell`."""
        return cls(cell.collective, cell.ranks, cell.placement, cell.message_bytes, cell.mode, arrival=cell.arrival)


class PointWeight(BaseModel):
    """A point's calls in a program.

    share  their time, as a share of the program's time in MPI
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    collective: str
    ranks: int = Field(ge=1)
    placement: str
    message_bytes: int = Field(ge=0)
    share: float = Field(gt=0, le=1)

    @property
    def key(self) -> PointKey:
        """The point."""
        return self.collective, self.ranks, self.placement, self.message_bytes


@dataclass(frozen=True)
class PointGoal:
    """What a race wants of a point: its accepted `regret`, as a share, and its `weight`, 0 without a program."""

    regret: float
    weight: float = 0.0


def loss(regret: float) -> float:
    """The share of a choice's time that the best algorithm would save, from the choice's regret."""
    return 1.0 if regret == inf else regret / (1 + regret)


def point_goals(weights: Iterable[PointWeight], accepted: float) -> Mapping[PointKey, PointGoal]:
    """The goal of each point that is worth measuring; the others may lose all of their time.

    accepted  what all points together may lose, as a share of the program's time in MPI
    """
    left, unmeasured = sorted(weights, key=lambda each: each.share), UNMEASURED_PART * accepted
    while left and left[0].share <= unmeasured:
        unmeasured -= left[0].share
        accepted -= left.pop(0).share
    while left:
        scale = max(accepted, 0.0) / sum(each.share ** (2 / 3) for each in left)
        losses = [scale * each.share ** (-1 / 3) for each in left]
        if losses[0] < 1:
            return {each.key: PointGoal(lost / (1 - lost), each.share) for each, lost in zip(left, losses, strict=True)}
        accepted -= left.pop(0).share
    return {}
