"""Observers of a campaign's progress."""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import Protocol

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.study.cell import Cell


class Observer(Protocol):
    """Callbacks for a campaign's progress."""

    def started(self, launch: int, group: Group, cells: int) -> None:
        """The MPI program was started for `cells` cells."""

    def measured(self, result: LaunchResult) -> None:
        """A result, after it was recorded."""

    def note(self, text: str) -> None:
        """Something worth knowing that is no result."""


Observing = Callable[[CampaignPlan, Collection[tuple[Cell, int]]], AbstractContextManager[Observer]]
"""An observer of a campaign, from its plan and the cells and launches that have a result already."""
