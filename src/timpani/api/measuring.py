"""Measure from Python what `timpani run` measures."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from timpani.api.opened_campaign import OpenedCampaign
from timpani.api.runnable_study import runnable_study
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.run.run import Observer
from timpani.campaign.run.session import Session
from timpani.errors import unknown
from timpani.machine.where import resolve
from timpani.study.cell import Cell
from timpani.study.compose import compose
from timpani.study.keys import KEYS

Note = Callable[[str], object]


def measure_campaign(
    what: Collection[str],
    folder: Path,
    mpi: str | None,
    on: str | None,
    oversubscribe: bool,
    note: Note,
    options: Mapping[str, Any],
) -> OpenedCampaign:
    """See `timpani.measure`."""
    arguments = [*KEYS, "algorithms"]
    if strange := [name for name in options if name not in arguments]:
        raise unknown("argument", strange[0], arguments, "timpani help run")
    study = runnable_study(what, compose(list(what), options))
    session = Session.prepare(study, mpi, oversubscribe, resolve(on, mpi) if on else None)

    @contextmanager
    def observing(plan: CampaignPlan, done: Collection[tuple[Cell, int]]) -> Iterator[Observer]:
        yield _Notes(note)

    session.complete(folder, observing)
    if session.stopped is not None:
        raise KeyboardInterrupt
    return OpenedCampaign(folder)


class _Notes:
    """An observer that passes on what is worth knowing, and no progress."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def started(self, launch: int, group: Group, cells: int) -> None:
        pass

    def measured(self, result: LaunchResult) -> None:
        pass

    def note(self, text: str) -> None:
        self._note(text)
