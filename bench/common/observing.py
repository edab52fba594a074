"""An observer of campaigns that prints what is worth a note."""

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.run.observer import Observer
from timpani.study.cell import Cell


class _Notes:
    def started(self, launch: int, group: Group, cells: int) -> None:
        pass

    def measured(self, result: LaunchResult) -> None:
        pass

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


@contextmanager
def notes(plan: CampaignPlan, done: Collection[tuple[Cell, int]]) -> Iterator[Observer]:
    """Print notes alone: a benchmark prints its own results."""
    yield _Notes()
